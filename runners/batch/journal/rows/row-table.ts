import { Column, NarrowColumn, WideColumn } from './column.js';
import { HashIndex } from './hash-index.js';

const mostAttempts = 0xffff;

/** Bits of `RowTable`'s flags. */
export const rowFlags = {
  /** The price of the booked amount is not known. */
  unpriced: 1,
  /** Known before a repair that lost records, and neither sent nor ended since. */
  beforeRepair: 2,
} as const;

/** The number of a purchase among the POSTs of its row, and its contents in the form of `RowTable.content`. */
export type HeldBefore = readonly [attempt: number, ...contents: number[]];

/**
 * The facts about each row, in typed arrays: about 40 bytes per row, without ids or objects. A row has an index, in the
 * order of first appearance, found by the hash of its id.
 */
export class RowTable {
  readonly status = new Column(Uint8Array);
  /** First 32 bits of the content hash. */
  readonly content = new Column(Uint32Array);
  /** The same of what was asked for, if the intent has it. */
  readonly asked = new Column(Uint32Array);
  /** Index into the tally's accounts. */
  readonly account = new NarrowColumn();
  readonly booking = new Column(Uint8Array);
  readonly amount = new WideColumn();
  /** The position of the row's last record of each kind, plus 1; 0 for none. */
  readonly intentAt = new WideColumn();
  readonly acceptedAt = new WideColumn();
  readonly replyAt = new WideColumn();
  readonly outcomeAt = new WideColumn();
  /** Contents with which a row was bought before it was redone, in the form of `content`; only for redone rows. */
  readonly replaced = new Map<number, number[]>();
  /** Purchases that may have been made before a row was reopened to buy them again: only for such rows. */
  readonly heldBefore = new Map<number, HeldBefore[]>();
  /** The number of POSTs, minus 1 if the row has an intent: nearly every row has one POST, and 0 takes no memory. */
  private readonly repeats = new Column(Uint16Array);
  private readonly flags = new Column(Uint8Array);
  /** By the hash of the row's id. */
  readonly ids = new HashIndex();

  /** All columns. Call `ids.reopen` after filling them. */
  get columns(): readonly Column[] {
    const { status, content, asked, account, booking, repeats, flags, ids } = this;
    const split = [account, this.amount, this.intentAt, this.acceptedAt, this.replyAt, this.outcomeAt];
    return [
      status,
      content,
      asked,
      booking,
      repeats,
      flags,
      ...ids.columns,
      ...split.flatMap((of) => of.columns),
    ];
  }

  /** Number of POSTs over all starts, at most 65,535. */
  attempts(index: number): number {
    return (this.repeats.get(index) + this.firstPost(index)) & mostAttempts;
  }

  /** Call it after the position of the intent is set, because the first POST is counted by that. */
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
