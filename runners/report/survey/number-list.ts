type Store = Float64Array | Uint32Array | Uint16Array | Uint8Array;

const chunkBits = 12;
const chunkLength = 1 << chunkBits;
const chunkMask = chunkLength - 1;

/** Numbers of one kind in typed arrays, nothing for the collector to look at. It grows by whole chunks: nothing is copied. */
export class NumberList implements Iterable<number> {
  length = 0;
  private readonly chunks: Store[] = [];

  constructor(private readonly make: new (length: number) => Store = Float64Array) {}

  push(value: number): void {
    const place = this.length++;
    const chunk = (this.chunks[place >>> chunkBits] ??= new this.make(chunkLength));
    chunk[place & chunkMask] = value;
  }

  /** 0 beyond the end. */
  at(place: number): number {
    return this.chunks[place >>> chunkBits]?.[place & chunkMask] ?? 0;
  }

  *[Symbol.iterator](): Generator<number, void, void> {
    for (let place = 0; place < this.length; place++) yield this.at(place);
  }

  /** A copy in ascending order. */
  sorted(): Store {
    const copy = new this.make(this.length);
    for (const [index, chunk] of this.chunks.entries()) {
      const start = index * chunkLength;
      copy.set(chunk.subarray(0, this.length - start), start);
    }
    return copy.sort();
  }

  /** The places of the numbers, the smallest number first; equal ones in their own order. */
  ranked(): Uint32Array {
    const ranks = new Uint32Array(this.length).map((_, place) => place);
    return this.isSorted() ? ranks : ranks.sort((a, b) => this.at(a) - this.at(b) || a - b);
  }

  private isSorted(): boolean {
    for (let place = 1; place < this.length; place++) if (this.at(place - 1) > this.at(place)) return false;
    return true;
  }
}
