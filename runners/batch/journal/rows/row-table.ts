import { Column, NarrowColumn, WideColumn } from './column.js';
import { HashIndex } from './hash-index.js';
import type { IdHash } from '../../manifest/duplicates/id-hash.js';

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
 * the order of first appearance, by the hash of its id.
 */
export class RowTable {
  readonly status = new Column(Uint8Array);
  /** First 32 bits of the content hash. */
  readonly content = new Column(Uint32Array);
  /** Index into the tally's accounts. */
  readonly account = new NarrowColumn();
  readonly booking = new Column(Uint8Array);
  readonly amount = new WideColumn();
  /** Where the row's last record of each kind begins, plus 1; 0 for none. */
  readonly intentAt = new WideColumn();
  readonly acceptedAt = new WideColumn();
  readonly replyAt = new WideColumn();
  readonly outcomeAt = new WideColumn();
  /** Contents that a row was bought with before it was redone, as `content` has them; of redone rows alone. */
  readonly replaced = new Map<number, number[]>();
  /** POSTs behind the first one of an intent, which nearly every row has and which takes no memory so; -1 for none. */
  private readonly repeats = new Column(Uint16Array);
  private readonly flags = new Column(Uint8Array);
  /** By the hash of the row's id. */
  private readonly ids = new HashIndex();

  get length(): number {
    return this.ids.length;
  }

  /** All columns. Call `reopen` after filling them anew. */
  get columns(): readonly Column[] {
    const { status, content, account, booking, repeats, flags, ids } = this;
    const split = [account, this.amount, this.intentAt, this.acceptedAt, this.replyAt, this.outcomeAt];
    return [status, content, booking, repeats, flags, ...ids.columns, ...split.flatMap((of) => of.columns)];
  }

  /** Makes room for so many rows. */
  expect(rows: number): void {
    this.ids.expect(rows);
  }

  /** Leads from hashes to rows again, once the columns hold so many rows. */
  reopen(length: number): void {
    this.ids.reopen(length);
  }

  /** The row's index, or -1. */
  find(hash: Pick<IdHash, 'high' | 'low'>): number {
    return this.ids.find(hash);
  }

  /** The row's index; a row that was not known is added. */
  add(hash: IdHash): number {
    return this.ids.add(hash);
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
}
