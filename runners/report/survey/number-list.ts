type Store = Float64Array | Uint32Array | Uint16Array | Uint8Array;

const chunkBits = 12;
const chunkLength = 1 << chunkBits;
const chunkMask = chunkLength - 1;

/** Numbers in typed arrays, which the garbage collector need not scan. It grows by whole chunks, so nothing is copied. */
export class NumberList implements Iterable<number> {
  length = 0;
  private readonly chunks: Store[] = [];

  constructor(private readonly make: new (length: number) => Store = Float64Array) {}

  push(value: number): void {
    const place = this.length++;
    const chunk = (this.chunks[place >>> chunkBits] ??= new this.make(chunkLength));
    chunk[place & chunkMask] = value;
  }

  /** The number at a place; 0 beyond the end. */
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
    const { least, most, isSorted, isWhole } = this.extent();
    if (isSorted) return new Uint32Array(this.length).map((_, place) => place);
    // A power of two, because dividing by it is exact and much faster than a remainder.
    const room = 2 ** Math.ceil(Math.log2(this.length));
    if (!isWhole || (most - least + 1) * room > Number.MAX_SAFE_INTEGER)
      return new Uint32Array(this.length)
        .map((_, place) => place)
        .sort((a, b) => this.at(a) - this.at(b) || a - b);
    // Number and place are combined in one number, because sorting with a function would take twenty times as long.
    const keys = new Float64Array(this.length);
    for (let place = 0; place < this.length; place++) keys[place] = (this.at(place) - least) * room + place;
    keys.sort();
    const places = new Uint32Array(this.length);
    for (let rank = 0; rank < this.length; rank++) {
      const key = keys[rank] ?? 0;
      places[rank] = key - Math.floor(key / room) * room;
    }
    return places;
  }

  private extent(): { least: number; most: number; isSorted: boolean; isWhole: boolean } {
    let [least, most, before] = [Infinity, -Infinity, -Infinity];
    let [isSorted, isWhole] = [true, true];
    for (let place = 0; place < this.length; place++) {
      const value = this.at(place);
      if (value < before) isSorted = false;
      if (!Number.isSafeInteger(value)) isWhole = false;
      if (value < least) least = value;
      if (value > most) most = value;
      before = value;
    }
    return { least, most, isSorted, isWhole };
  }
}
