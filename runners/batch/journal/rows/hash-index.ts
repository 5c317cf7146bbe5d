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
  /** Place + 1; 0 is free. At most two thirds are taken. `undefined`: nobody has asked yet, as mostly nobody does for a job of long ago. */
  private slots: Uint32Array | undefined;

  /** Leads from hashes to places again, once the columns hold so many of them. */
  reopen(length: number): void {
    this.length = length;
    this.slots = undefined;
  }

  /** The place of the hash, or -1. */
  find(hash: Pick<IdHash, 'high' | 'low'>): number {
    const slots = this.slots ?? this.openSlots();
    return (slots[this.slotIn(slots, hash.high, hash.low)] ?? 0) - 1;
  }

  /** The place of the hash; one that was not known is added. */
  add(hash: Pick<IdHash, 'high' | 'low'>): number {
    const slots = this.slots ?? this.openSlots();
    const slot = this.slotIn(slots, hash.high, hash.low);
    const taken = slots[slot] ?? 0;
    if (taken > 0) return taken - 1;
    const place = this.length++;
    this.high.set(place, hash.high);
    this.low.set(place, hash.low);
    slots[slot] = place + 1;
    if (this.length * 3 > slots.length * 2) this.openSlots();
    return place;
  }

  private slotIn(slots: Uint32Array, high: number, low: number): number {
    const mask = slots.length - 1;
    let slot = low & mask;
    for (;;) {
      const taken = slots[slot] ?? 0;
      if (taken === 0 || (this.low.get(taken - 1) === low && this.high.get(taken - 1) === high)) return slot;
      slot = (slot + 1) & mask;
    }
  }

  /** As many as there have to be. */
  private openSlots(): Uint32Array {
    let count = firstSlots;
    while (this.length * 3 > count * 2) count *= 2;
    const slots = (this.slots = new Uint32Array(count));
    for (let place = 0; place < this.length; place++)
      slots[this.slotIn(slots, this.high.get(place), this.low.get(place))] = place + 1;
    return slots;
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
