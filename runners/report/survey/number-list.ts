type Store = Float64Array | Uint32Array | Uint16Array | Uint8Array;

const firstLength = 1 << 10;

/** Numbers of one kind in a typed array that grows: a million are a few MB, and nothing for the collector to look at. */
export class NumberList implements Iterable<number> {
  length = 0;
  private store: Store;

  constructor(private readonly make: new (length: number) => Store = Float64Array) {
    this.store = new make(firstLength);
  }

  push(value: number): void {
    if (this.length === this.store.length) this.grow();
    this.store[this.length++] = value;
  }

  /** 0 beyond the end. */
  at(index: number): number {
    return this.store[index] ?? 0;
  }

  [Symbol.iterator](): Iterator<number> {
    return this.store.subarray(0, this.length)[Symbol.iterator]();
  }

  /** The places of the numbers, the smallest number first; equal ones in their own order. */
  ranked(): Uint32Array {
    const ranks = Uint32Array.from({ length: this.length }, (_, place) => place);
    return this.isSorted() ? ranks : ranks.sort((a, b) => this.at(a) - this.at(b) || a - b);
  }

  private isSorted(): boolean {
    for (let place = 1; place < this.length; place++) if (this.at(place - 1) > this.at(place)) return false;
    return true;
  }

  private grow(): void {
    const larger = new this.make(Math.ceil(this.length * 1.5));
    larger.set(this.store);
    this.store = larger;
  }
}
