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

const chunkPairs = 256;

/**
 * Finds the 64-bit hashes that occur more than once, with 8 bytes per hash. They are kept in 256 segments by their first byte,
 * so that sorting never copies all of them.
 */
export class FingerprintList {
  readonly #segments: (FingerprintSegment | undefined)[] = [];
  /** After `keepRepeated`: the number of hashes in the segments before each one. */
  readonly #offsets: number[] = [];

  add(high: number, low: number): void {
    (this.#segments[segmentOf(high)] ??= new FingerprintSegment()).add(high, low);
  }

  /** Keeps the hashes that were added more than once, each once, and returns their number. Nothing may be added afterwards. */
  keepRepeated(): number {
    let count = 0;
    const longest = this.#segments.reduce((most, segment) => Math.max(most, segment?.size ?? 0), 0);
    const words = new Uint32Array(2 * longest);
    for (const [place, segment] of this.#segments.entries()) {
      this.#offsets[place] = count;
      count += segment?.keepRepeated(words) ?? 0;
    }
    return count;
  }

  /** The index of a hash among those that were kept, or -1. */
  indexOf(high: number, low: number): number {
    const at = this.#segments[segmentOf(high)]?.indexOf(high, low) ?? -1;
    return at < 0 ? -1 : (this.#offsets[segmentOf(high)] ?? 0) + at;
  }
}

/** Hashes as pairs of 32-bit words, in chunks so that growing never copies. Sorting reads each pair as one 64-bit number. */
class FingerprintSegment {
  readonly #chunks: Uint32Array[] = [];
  size = 0;
  /** The hashes that `keepRepeated` has kept. */
  #repeated = new BigUint64Array(0);

  add(high: number, low: number): void {
    const at = this.size++ % chunkPairs;
    if (at === 0) this.#chunks.push(new Uint32Array(2 * chunkPairs));
    const chunk = this.#chunks.at(-1) as Uint32Array;
    chunk[2 * at] = low;
    chunk[2 * at + 1] = high;
  }

  /** @param words memory in which the hashes are sorted, with room for the largest segment */
  keepRepeated(words: Uint32Array): number {
    const all = this.#joinedIn(words).sort();
    let kept = 0;
    for (let at = 1; at < all.length; at++) {
      const isRepeated = all[at] === all[at - 1];
      if (isRepeated && (kept === 0 || all[kept - 1] !== all[at])) all[kept++] = all[at] ?? 0n;
    }
    this.#repeated = all.slice(0, kept);
    return kept;
  }

  indexOf(high: number, low: number): number {
    const all = this.#repeated;
    const [wanted = 0n] = new BigUint64Array(Uint32Array.of(low, high).buffer);
    let [from, to] = [0, all.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((all[middle] ?? 0n) < wanted) from = middle + 1;
      else to = middle;
    }
    return all[from] === wanted ? from : -1;
  }

  /** All hashes side by side; the chunks are released. */
  #joinedIn(words: Uint32Array): BigUint64Array {
    const all = words.subarray(0, 2 * this.size);
    this.#chunks.forEach((chunk, index) => {
      const start = 2 * chunkPairs * index;
      all.set(chunk.subarray(0, Math.min(chunk.length, all.length - start)), start);
    });
    this.#chunks.length = 0;
    return new BigUint64Array(words.buffer, 0, this.size);
  }
}

const partBits = 3;
/** No part of different hashes is longer than this, because hashes are spread evenly. */
const longestPart = { share: 1.25 / (1 << partBits), more: 1_024 };

/** Calls `take` with each of some 64-bit hashes, the same ones at each call. */
export type EachHash = (take: (high: number, low: number) => void) => Promise<void>;

/**
 * Whether any of `count` 64-bit hashes occurs more than once. It passes over them eight times and each time sorts those with
 * certain first bits, so that 1.25 bytes per hash are enough.
 */
export async function isAnyRepeated(count: number, eachHash: EachHash): Promise<boolean> {
  const sorted = new BigUint64Array(Math.ceil(longestPart.share * count) + longestPart.more);
  const words = new Uint32Array(sorted.buffer);
  for (let part = 0; part < 1 << partBits; part++) {
    let length = 0;
    await eachHash((high, low) => {
      if (high >>> (32 - partBits) !== part) return;
      words[length++] = low;
      words[length++] = high;
    });
    if (length > words.length || hasTwins(sorted.subarray(0, length / 2).sort())) return true;
  }
  return false;
}

function hasTwins(sorted: BigUint64Array): boolean {
  for (let at = 1; at < sorted.length; at++) if (sorted[at] === sorted[at - 1]) return true;
  return false;
}
