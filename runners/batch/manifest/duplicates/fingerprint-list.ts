const segmentBits = 8;
const chunkPairs = 256;

/**
 * 64-bit hashes, of which those that come more than once are wanted: 8 bytes each. They lie in 256 segments by their first
 * byte, so that sorting never needs a second copy of all of them.
 */
export class FingerprintList {
  readonly #segments: (Segment | undefined)[] = [];
  /** The number of hashes in the segments before, once only repeated ones are left. */
  readonly #offsets: number[] = [];

  add(high: number, low: number): void {
    (this.#segments[segmentOf(high)] ??= new Segment()).add(high, low);
  }

  /** Leaves the hashes that were added more than once, each once, and returns how many they are. Nothing is added after it. */
  keepRepeated(): number {
    let count = 0;
    for (const [place, segment] of this.#segments.entries()) {
      this.#offsets[place] = count;
      count += segment?.keepRepeated() ?? 0;
    }
    return count;
  }

  /** Which of those that are left it is, from 0; -1: none. */
  indexOf(high: number, low: number): number {
    const at = this.#segments[segmentOf(high)]?.indexOf(high, low) ?? -1;
    return at < 0 ? -1 : (this.#offsets[segmentOf(high)] ?? 0) + at;
  }
}

function segmentOf(high: number): number {
  return high >>> (32 - segmentBits);
}

/** Hashes as pairs of words, in chunks so that growing never copies. Two words are one 64-bit number for the machine's own sorting. */
class Segment {
  readonly #chunks: Uint32Array[] = [];
  #size = 0;
  /** What is left once only repeated ones are wanted. */
  #repeated = new BigUint64Array(0);

  add(high: number, low: number): void {
    const at = this.#size++ % chunkPairs;
    if (at === 0) this.#chunks.push(new Uint32Array(2 * chunkPairs));
    const chunk = this.#chunks.at(-1) as Uint32Array;
    chunk[2 * at] = low;
    chunk[2 * at + 1] = high;
  }

  keepRepeated(): number {
    const all = this.#joined().sort();
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

  /** All of them in one array; the chunks are given back. */
  #joined(): BigUint64Array {
    const words = new Uint32Array(2 * this.#size);
    this.#chunks.forEach((chunk, index) => {
      const start = 2 * chunkPairs * index;
      words.set(chunk.subarray(0, Math.min(chunk.length, words.length - start)), start);
    });
    this.#chunks.length = 0;
    return new BigUint64Array(words.buffer);
  }
}
