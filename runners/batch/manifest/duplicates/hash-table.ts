const segmentBits = 8;
const firstCapacity = 8;
/** 32-bit words per entry: both halves of the hash, and the value. */
const words = 3;

/**
 * Maps 64-bit hashes to numbers above 0, in typed arrays of 12 bytes per entry that are between half and five sixths full. A
 * `Map` of a million ids would take fifteen times as much. Only one of its 256 segments grows at a time, so that it is never
 * copied as a whole; a segment is created with its first entry.
 */
export class HashTable {
  readonly #segments: (Segment | undefined)[] = [];

  /** The value of an entry; 0 if there is none. */
  get(high: number, low: number): number {
    return this.#segments[segmentOf(high)]?.get(high, low) ?? 0;
  }

  /** @param value must be above 0 */
  set(high: number, low: number, value: number): void {
    (this.#segments[segmentOf(high)] ??= new Segment()).set(high, low, value);
  }

  /** Adds an entry unless there is one. Returns the value of the existing entry, or 0. */
  claim(high: number, low: number, value: number): number {
    return (this.#segments[segmentOf(high)] ??= new Segment()).claim(high, low, value);
  }
}

/** The index of a hash's segment: its first byte. */
export function segmentOf(high: number): number {
  return high >>> (32 - segmentBits);
}

class Segment {
  #capacity = firstCapacity;
  #size = 0;
  #entries = new Uint32Array(firstCapacity * words);

  get(high: number, low: number): number {
    return this.#entries[this.#find(high, low) + 2] ?? 0;
  }

  set(high: number, low: number, value: number): void {
    const at = this.#find(high, low);
    if (this.#entries[at + 2] !== 0) this.#entries[at + 2] = value;
    else this.#add(at, high, low, value);
  }

  claim(high: number, low: number, value: number): number {
    const at = this.#find(high, low);
    const known = this.#entries[at + 2] ?? 0;
    if (known === 0) this.#add(at, high, low, value);
    return known;
  }

  /** @param free the index that `#find` returned */
  #add(free: number, high: number, low: number, value: number): void {
    const isFull = 6 * (this.#size + 1) > 5 * this.#capacity;
    if (isFull) this.#grow();
    const at = isFull ? this.#find(high, low) : free;
    this.#entries[at] = high;
    this.#entries[at + 1] = low;
    this.#entries[at + 2] = value;
    this.#size++;
  }

  /** The index where the entry begins, or where it would be inserted. */
  #find(high: number, low: number): number {
    const entries = this.#entries;
    const end = entries.length;
    let at = Math.floor((low / 0x1_0000_0000) * this.#capacity) * words;
    while (entries[at + 2] !== 0 && (entries[at + 1] !== low || entries[at] !== high)) {
      at += words;
      if (at === end) at = 0;
    }
    return at;
  }

  #grow(): void {
    const old = this.#entries;
    this.#capacity = Math.ceil(this.#capacity * 1.4);
    this.#entries = new Uint32Array(this.#capacity * words);
    this.#size = 0;
    for (let at = 0; at < old.length; at += words) {
      const [high = 0, low = 0, value = 0] = old.subarray(at, at + words);
      if (value !== 0) this.#add(this.#find(high, low), high, low, value);
    }
  }
}
