type Store = Uint8Array | Uint16Array | Uint32Array;

const chunkBits = 12;
const chunkLength = 1 << chunkBits;
const chunkMask = chunkLength - 1;

/**
 * A typed array that grows by whole chunks, so that growing never copies. Unset entries read as 0; a chunk of zeros
 * takes no memory.
 */
export class Column {
  private readonly chunks: (Store | undefined)[] = [];

  constructor(private readonly make: new (length: number) => Store) {}

  get(index: number): number {
    return this.chunks[index >>> chunkBits]?.[index & chunkMask] ?? 0;
  }

  set(index: number, value: number): void {
    const chunk = index >>> chunkBits;
    const store = this.chunks[chunk] ?? (value === 0 ? undefined : this.open(chunk));
    if (store) store[index & chunkMask] = value;
  }

  /** The bytes of the chunks that hold the first `length` entries; `undefined` for a chunk of zeros. */
  *chunksOf(length: number): Generator<Uint8Array | undefined, void, void> {
    for (let chunk = 0; chunk * chunkLength < length; chunk++) {
      const store = this.chunks[chunk];
      yield store && bytesOf(store);
    }
  }

  /** The bytes of a chunk, to be filled with bytes that came from `chunksOf`. */
  chunkAt(chunk: number): Uint8Array {
    return bytesOf(this.chunks[chunk] ?? this.open(chunk));
  }

  private open(chunk: number): Store {
    while (this.chunks.length <= chunk) this.chunks.push(undefined);
    const store = new this.make(chunkLength);
    this.chunks[chunk] = store;
    return store;
  }
}

export function bytesOf({ buffer, byteOffset, byteLength }: Store): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Whole numbers split into two columns: if the upper bits of all are 0, these take no memory. */
class SplitColumn {
  readonly columns: readonly Column[];
  private readonly base: number;

  constructor(
    private readonly low: Column,
    private readonly high: Column,
    lowBits: number,
  ) {
    this.columns = [low, high];
    this.base = 2 ** lowBits;
  }

  get(index: number): number {
    return this.high.get(index) * this.base + this.low.get(index);
  }

  set(index: number, value: number): void {
    const high = Math.floor(value / this.base);
    this.low.set(index, value - high * this.base);
    this.high.set(index, high);
  }
}

/** Whole numbers below 2^24, in one byte each as long as all fit in one, then in three: there are usually few accounts. */
export class NarrowColumn extends SplitColumn {
  constructor() {
    super(new Column(Uint8Array), new Column(Uint16Array), 8);
  }
}

/** Whole numbers below 2^40 in five bytes: offsets in files of up to a terabyte, amounts of up to a million dollars. */
export class WideColumn extends SplitColumn {
  /** The largest value that fits. */
  static readonly max = 2 ** 40 - 1;

  constructor() {
    super(new Column(Uint32Array), new Column(Uint8Array), 32);
  }

  /** @throws {RangeError} if the value does not fit. */
  override set(index: number, value: number): void {
    if (!(value >= 0 && value <= WideColumn.max)) throw new RangeError(`${value} does not fit in 40 bits`);
    super.set(index, value);
  }
}

/** A set of rows by their indices, with one bit for each. */
export class RowSet {
  readonly #bits = new Column(Uint8Array);

  has(index: number): boolean {
    return (this.#bits.get(index >>> 3) & (1 << (index & 7))) !== 0;
  }

  add(index: number): void {
    this.#bits.set(index >>> 3, this.#bits.get(index >>> 3) | (1 << (index & 7)));
  }
}
