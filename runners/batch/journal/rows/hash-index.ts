import { IdHash } from '../../manifest/duplicates/id-hash.js';
import { Column, WideColumn } from './column.js';

const firstSlots = 1 << 10;
/** At most this share of the slots is taken, to keep searches short. */
const mostTaken = 3 / 4;
const growth = 1.5;

/**
 * 64-bit hashes in the order in which they were added, each once, with their indexes: an open-addressing table in typed
 * arrays, 13 to 16 bytes per hash.
 */
export class HashIndex {
  length = 0;
  private readonly high = new Column(Uint32Array);
  private readonly low = new Column(Uint32Array);
  /** All columns. Call `reopen` after filling them. */
  readonly columns: readonly Column[] = [this.high, this.low];
  /**
   * Index + 1 in the lower bits, as many bits of `high` as fit above them; 0 is free. `undefined` until the first
   * look-up: a run often needs none for the jobs of earlier starts.
   */
  private slots: Uint32Array | undefined;
  private placeBits = 0;
  /** The index that `add` returned last. */
  private latest = 0;
  private expected = 0;

  /** Reserves room for this many hashes at the first look-up: growing copies, and the old arrays take memory for a while. */
  expect(length: number): void {
    this.expected = length;
  }

  /** Sets the number of hashes once the columns are filled; the slots are built again at the next look-up. */
  reopen(length: number): void {
    this.length = length;
    this.slots = undefined;
  }

  /** The index of the hash, or -1. */
  find(hash: Pick<IdHash, 'high' | 'low'>): number {
    const slots = this.slots ?? this.openSlots(this.length);
    return this.placeIn(slots[this.slotIn(slots, hash.high, hash.low)] ?? 0);
  }

  /** The index of the hash, which is added if it was not known. */
  add(hash: Pick<IdHash, 'high' | 'low'>): number {
    // Two records of a row mostly follow each other, so the latest hash is compared first.
    const { latest } = this;
    if (hash.low === this.low.get(latest) && hash.high === this.high.get(latest) && latest < this.length)
      return latest;
    return (this.latest = this.placeOf(hash));
  }

  private placeOf(hash: Pick<IdHash, 'high' | 'low'>): number {
    const slots = this.slots ?? this.openSlots(this.length);
    const slot = this.slotIn(slots, hash.high, hash.low);
    const taken = slots[slot] ?? 0;
    if (taken > 0) return this.placeIn(taken);
    const place = this.length++;
    this.high.set(place, hash.high);
    this.low.set(place, hash.low);
    this.take(slots, slot, place);
    if (this.length > slots.length * mostTaken) this.openSlots(growth * this.length);
    return place;
  }

  /** Adds a hash, even if it is known, without building the slots. */
  append({ high, low }: Pick<IdHash, 'high' | 'low'>): void {
    const place = this.length++;
    this.high.set(place, high);
    this.low.set(place, low);
    this.slots = undefined;
  }

  hashAt(place: number): Pick<IdHash, 'high' | 'low'> {
    return { high: this.high.get(place), low: this.low.get(place) };
  }

  private placeIn(taken: number): number {
    return (taken & ((1 << this.placeBits) - 1)) - 1;
  }

  private take(slots: Uint32Array, slot: number, place: number): void {
    slots[slot] = (this.high.get(place) << this.placeBits) | (place + 1);
  }

  private slotIn(slots: Uint32Array, high: number, low: number): number {
    const { placeBits } = this;
    let slot = Math.floor((low / 0x1_0000_0000) * slots.length);
    for (;;) {
      const taken = slots[slot] ?? 0;
      if (taken === 0) return slot;
      if ((taken ^ (high << placeBits)) >>> placeBits === 0) {
        const place = this.placeIn(taken);
        if (this.low.get(place) === low && this.high.get(place) === high) return slot;
      }
      if (++slot === slots.length) slot = 0;
    }
  }

  /** Builds the slots for `wanted` or the expected number of hashes, whichever is larger, and some more. */
  private openSlots(wanted: number): Uint32Array {
    const room = Math.ceil((1.05 * Math.max(wanted, this.expected)) / mostTaken);
    const slots = (this.slots = new Uint32Array(Math.max(room, firstSlots)));
    this.placeBits = 32 - Math.clz32(slots.length);
    for (let place = 0; place < this.length; place++)
      this.take(slots, this.slotIn(slots, this.high.get(place), this.low.get(place)), place);
    return slots;
  }
}

/** More than the number of jobs that are usually in flight at a time. */
const latestJobs = 1 << 14;

/** The known jobs, by a 64-bit hash of endpoint and job id: two million take 40 MB, and no id is kept. */
export class JobHashes {
  readonly index = new HashIndex();
  /** The latest of the hashes in the index, in slots that are chosen by some of their bits. */
  #latest: Uint32Array | undefined;
  readonly #jobHash = new IdHash();
  readonly #endpointHash = new IdHash();
  #endpoint: string | undefined;

  /** Adds a job. Returns false if it is known. */
  add(endpoint: string, jobId: string): boolean {
    const { length } = this.index;
    this.index.add(this.#hashOf(endpoint, this.#jobHash.ofText(jobId)));
    return this.index.length > length;
  }

  /**
   * Adds a job that a record names. An earlier record has usually named it shortly before, so only the latest jobs are
   * compared; a job may be kept twice.
   */
  note(endpoint: string, job: Pick<IdHash, 'high' | 'low'>): void {
    const { high, low } = this.#hashOf(endpoint, job);
    const latest = (this.#latest ??= this.#lastKept());
    const at = 2 * (low % latestJobs);
    if (latest[at] === low && latest[at + 1] === high) return;
    latest[at] = low;
    latest[at + 1] = high;
    this.index.append({ high, low });
  }

  /** Built from the index, so that it is the same whether all records or a snapshot of them were read. */
  #lastKept(): Uint32Array {
    const latest = new Uint32Array(2 * latestJobs);
    for (let place = 0; place < this.index.length; place++) {
      const { high, low } = this.index.hashAt(place);
      latest.set([low, high], 2 * (low % latestJobs));
    }
    return latest;
  }

  #hashOf(endpoint: string, { high, low }: Pick<IdHash, 'high' | 'low'>): Pick<IdHash, 'high' | 'low'> {
    if (endpoint !== this.#endpoint) this.#endpointHash.ofText(endpoint);
    this.#endpoint = endpoint;
    return { high: (high ^ this.#endpointHash.high) >>> 0, low: (low ^ this.#endpointHash.low) >>> 0 };
  }
}

/** Whole numbers from 0 to 2^40 - 2 by text, in about 20 bytes each: no text is kept. */
export class NumbersByText {
  readonly #index = new HashIndex();
  /** The number plus 1; 0 for none. */
  readonly #numbers = new WideColumn();
  readonly #hash = new IdHash();

  /** How many texts were set. */
  get size(): number {
    return this.#index.length;
  }

  get(text: string): number | undefined {
    const place = this.size === 0 ? -1 : this.#index.find(this.#hash.ofText(text));
    const found = place < 0 ? 0 : this.#numbers.get(place);
    return found === 0 ? undefined : found - 1;
  }

  set(text: string, number: number | undefined): void {
    this.#numbers.set(this.#index.add(this.#hash.ofText(text)), number === undefined ? 0 : number + 1);
  }
}
