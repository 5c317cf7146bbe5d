import { IdHash } from '../../manifest/duplicates/id-hash.js';
import { Column } from './column.js';

const firstSlots = 1 << 10;

/**
 * 64-bit hashes in the order in which they were added, each once, and the place of each among them: by open addressing, in
 * typed arrays of 14 to 20 bytes a hash.
 */
export class HashIndex {
  length = 0;
  private readonly high = new Column(Uint32Array);
  private readonly low = new Column(Uint32Array);
  /** All columns. Call `reopen` after filling them anew. */
  readonly columns: readonly Column[] = [this.high, this.low];
  /** Place + 1; 0 is free. At most two thirds are taken. */
  private slots = new Uint32Array(firstSlots);

  /** Leads from hashes to places again, once the columns hold so many of them. */
  reopen(length: number): void {
    this.length = length;
    let slots = firstSlots;
    while (length * 3 > slots * 2) slots *= 2;
    this.openSlots(slots);
  }

  /** The place of the hash, or -1. */
  find(hash: Pick<IdHash, 'high' | 'low'>): number {
    return (this.slots[this.slotOf(hash.high, hash.low)] ?? 0) - 1;
  }

  /** The place of the hash; one that was not known is added. */
  add(hash: Pick<IdHash, 'high' | 'low'>): number {
    const slot = this.slotOf(hash.high, hash.low);
    const taken = this.slots[slot] ?? 0;
    if (taken > 0) return taken - 1;
    const place = this.length++;
    this.high.set(place, hash.high);
    this.low.set(place, hash.low);
    this.slots[slot] = place + 1;
    if (this.length * 3 > this.slots.length * 2) this.openSlots(this.slots.length * 2);
    return place;
  }

  private slotOf(high: number, low: number): number {
    const mask = this.slots.length - 1;
    let slot = low & mask;
    for (;;) {
      const taken = this.slots[slot] ?? 0;
      if (taken === 0 || (this.low.get(taken - 1) === low && this.high.get(taken - 1) === high)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  private openSlots(count: number): void {
    this.slots = new Uint32Array(count);
    for (let place = 0; place < this.length; place++) {
      this.slots[this.slotOf(this.high.get(place), this.low.get(place))] = place + 1;
    }
  }
}

/** Which jobs are known, by a 64-bit hash of endpoint and job id: two million take 40 MB, and no id is kept. */
export class JobHashes {
  readonly index = new HashIndex();
  readonly #jobHash = new IdHash();
  readonly #endpointHash = new IdHash();
  #endpoint: string | undefined;

  /** Takes a job in. False: it is known. */
  add(endpoint: string, jobId: string): boolean {
    return this.take(endpoint, this.#jobHash.ofText(jobId));
  }

  /** The same for an id that was hashed already. */
  take(endpoint: string, { high, low }: Pick<IdHash, 'high' | 'low'>): boolean {
    if (endpoint !== this.#endpoint) this.#endpointHash.ofText(endpoint);
    this.#endpoint = endpoint;
    const { length } = this.index;
    this.index.add({
      high: (high ^ this.#endpointHash.high) >>> 0,
      low: (low ^ this.#endpointHash.low) >>> 0,
    });
    return this.index.length > length;
  }
}
