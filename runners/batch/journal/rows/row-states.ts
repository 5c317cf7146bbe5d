import { isEnd, statusBytes, statusOf, type RowStatus } from '../../row/row-status.js';
import { IdHash } from '../../manifest/duplicates/id-hash.js';
import { hashWord } from '../../manifest/request-hash.js';
import { RowTable } from './row-table.js';

/** What is known of one row. */
export interface RowState {
  readonly status: RowStatus;
  /** POSTs over all starts. */
  readonly attempts: number;
  /** Its intent and its reply are there. */
  readonly isWhole: boolean;
  /**
   * Whether the row was last sent with this content hash, or bought with it before it was redone; compares the first 32 bits.
   * True where it was never sent.
   */
  sameContent(hash: string): boolean;
  /** Whether the row was bought with this content hash and redone since: another version is to stand in its place. */
  isReplaced(hash: string): boolean;
}

/** The state of a million rows in under 60 MB: by a 64-bit hash of the id, no id is kept. */
export class RowStates {
  private readonly hash = new IdHash();
  /** A row that is there keeps its place. */
  private latest: { readonly id: string | undefined; readonly index: number } = { id: undefined, index: -1 };

  /** @internal */
  constructor(private readonly table: RowTable = new RowTable()) {}

  get size(): number {
    return this.table.length;
  }

  /** The row's place among all that are known, in the order of first appearance; -1 where it is not. */
  indexOf(id: string): number {
    // An id is often looked up twice in a row.
    if (id === this.latest.id) return this.latest.index;
    const index = this.table.find(this.hash.ofText(id));
    if (index >= 0) this.latest = { id, index };
    return index;
  }

  get(id: string): RowState | undefined {
    const index = this.indexOf(id);
    if (index < 0) return undefined;
    const { table } = this;
    const content = table.content.get(index);
    const replaced = table.replaced.get(index);
    return {
      status: statusOf(table.status.get(index)),
      attempts: table.attempts(index),
      isWhole: table.intentAt.get(index) * table.replyAt.get(index) > 0,
      sameContent: (hash) =>
        content === 0 || contentBits(hash) === content || replaced?.includes(contentBits(hash)) === true,
      isReplaced: (hash) => replaced?.includes(contentBits(hash)) === true,
    };
  }

  /** Each row by its place, with the first 32 bits of the content hash that it was last sent with; 0: it was never sent. */
  *contents(): Generator<readonly [index: number, { readonly status: RowStatus; readonly content: number }]> {
    for (let index = 0; index < this.size; index++)
      yield [
        index,
        { status: statusOf(this.table.status.get(index)), content: this.table.content.get(index) },
      ];
  }

  /** Whether the row of an id with this hash has ended, with this content and no other before it, in a state that is not taken up. */
  isLeftAlone(id: Pick<IdHash, 'high' | 'low'>, bits: number, takenUp: ReadonlySet<RowStatus>): boolean {
    const index = this.table.find(id);
    if (index < 0 || this.table.replaced.has(index)) return false;
    const status = statusOf(this.table.status.get(index));
    const content = this.table.content.get(index);
    return isEnd(status) && !takenUp.has(status) && (content === 0 || content === bits);
  }

  /** Adds the row, or changes what is given. */
  set(id: string, state: { status: RowStatus; hash?: string; attempts?: number }): void {
    const index = this.table.add(this.hash.ofText(id));
    this.table.status.set(index, statusBytes[state.status]);
    if (state.hash !== undefined) this.table.content.set(index, contentBits(state.hash));
    if (state.attempts !== undefined) this.table.setAttempts(index, state.attempts);
  }
}

/** The first eight of the hash's hex digits as a number. */
export function contentBits(hash: string): number {
  return hashWord(hash, 0);
}
