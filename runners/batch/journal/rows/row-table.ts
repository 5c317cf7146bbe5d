import { Column, WideColumn } from './column.js';
import type { IdHash } from '../../manifest/ids/id-hash.js';

const firstSlots = 1 << 10;
const mostAttempts = 0xffff;

/** Bits of `RowTable`'s flags. */
export const rowFlags = {
  /** The price of what is booked is not known. */
  unpriced: 1,
  /** Known before a repair that lost records, and neither sent nor ended since. */
  beforeRepair: 2,
} as const;

/**
 * What is known of each row, in typed arrays: about 40 bytes a row, no id and no object is kept. A row has an index, in
 * the order of first appearance; an open-addressing table leads from the hash of its id to the index.
 */
export class RowTable {
  length = 0;
  readonly status = new Column(Uint8Array);
  /** First 32 bits of the content hash. */
  readonly content = new Column(Uint32Array);
  /** Index into the tally's accounts. */
  readonly account = new Column(Uint16Array);
  readonly booking = new Column(Uint8Array);
  readonly amount = new WideColumn();
  /** Where the row's last record of each kind begins, plus 1; 0 for none. */
  readonly intentAt = new WideColumn();
  readonly acceptedAt = new WideColumn();
  readonly replyAt = new WideColumn();
  readonly outcomeAt = new WideColumn();
  /** POSTs behind the first one of an intent, which nearly every row has and which takes no memory so; -1 for none. */
  private readonly repeats = new Column(Uint16Array);
  private readonly flags = new Column(Uint8Array);
  private readonly high = new Column(Uint32Array);
  private readonly low = new Column(Uint32Array);
  /** Index + 1; 0 is free. At most two thirds are taken. */
  private slots = new Uint32Array(firstSlots);

  /** All that it holds: whoever fills them anew calls `reopen`. */
  get columns(): readonly Column[] {
    const { status, content, account, booking, repeats, flags, high, low } = this;
    const wide = [this.amount, this.intentAt, this.acceptedAt, this.replyAt, this.outcomeAt];
    return [
      status,
      content,
      account,
      booking,
      repeats,
      flags,
      high,
      low,
      ...wide.flatMap((of) => of.columns),
    ];
  }

  /** Leads from hashes to rows again, once the columns hold so many rows. */
  reopen(length: number): void {
    this.length = length;
    let slots = firstSlots;
    while (length * 3 > slots * 2) slots *= 2;
    this.openSlots(slots);
  }

  /** The row's index, or -1. */
  find(hash: IdHash): number {
    return (this.slots[this.slotOf(hash.high, hash.low)] ?? 0) - 1;
  }

  /** The row's index; a row that was not known is added. */
  add(hash: IdHash): number {
    const slot = this.slotOf(hash.high, hash.low);
    const taken = this.slots[slot] ?? 0;
    if (taken > 0) return taken - 1;
    const index = this.length++;
    this.high.set(index, hash.high);
    this.low.set(index, hash.low);
    this.slots[slot] = index + 1;
    if (this.length * 3 > this.slots.length * 2) this.openSlots(this.slots.length * 2);
    return index;
  }

  /** POSTs over all starts, 65,535 at most. */
  attempts(index: number): number {
    return (this.repeats.get(index) + this.firstPost(index)) & mostAttempts;
  }

  /** Where an intent says it: once the intent's place is set. */
  setAttempts(index: number, attempts: number): void {
    this.repeats.set(index, (Math.min(attempts, mostAttempts) - this.firstPost(index)) & mostAttempts);
  }

  hasFlag(index: number, flag: number): boolean {
    return (this.flags.get(index) & flag) !== 0;
  }

  setFlag(index: number, flag: number, isSet: boolean): void {
    const flags = this.flags.get(index);
    const next = isSet ? flags | flag : flags & ~flag;
    if (next !== flags) this.flags.set(index, next);
  }

  private firstPost(index: number): 0 | 1 {
    return this.intentAt.get(index) === 0 ? 0 : 1;
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
    for (let index = 0; index < this.length; index++) {
      this.slots[this.slotOf(this.high.get(index), this.low.get(index))] = index + 1;
    }
  }
}
