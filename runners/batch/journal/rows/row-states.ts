import { isEnd, statusBytes, statusOf, type RowStatus } from '../../row/row-status.js';
import { IdHash } from '../../manifest/duplicates/id-hash.js';
import { hashWord, hashesOf, type RowHashes } from '../../manifest/request-hash.js';
import { RowSet } from './column.js';
import { RowTable, type HeldBefore } from './row-table.js';

/** What is known about one row. */
export interface RowState {
  readonly status: RowStatus;
  /** Number of POSTs over all starts. */
  readonly attempts: number;
  /** Whether it may have been bought before it was last reopened, to be sent again. */
  readonly isHeldBefore: boolean;
  /** Whether the journal has its intent and its reply. */
  readonly isWhole: boolean;
  /**
   * Whether the row was last sent with this content hash or asked for what has this `askedHash`, also if that was before it
   * was redone; compares the first 32 bits. True if it was never sent.
   */
  sameContent(hash: string): boolean;
  /** Whether the row was bought with this request, however it is written, and redone since: another version replaces it. */
  isReplaced(sent: RowHashes): boolean;
}

export interface RowContent {
  readonly status: RowStatus;
  /** The first 32 bits of the content hash with which it was last sent; 0 if it was never sent. */
  readonly content: number;
  /** The same of its `askedHash`, if that is another one; 0 otherwise. */
  readonly asked: number;
  /** Both of versions that were bought before it was redone, or may have been before it was reopened to be sent again. */
  readonly earlier: readonly number[];
}

const none: readonly number[] = [];

/** The states of a million rows in under 60 MB: rows are found by a 64-bit hash of the id, and no id is kept. */
export class RowStates {
  private readonly hash = new IdHash();
  /** The row that was looked up last; the index of a known row never changes. */
  private latest: { readonly id: string | undefined; readonly index: number } = { id: undefined, index: -1 };

  /** @internal */
  constructor(private readonly table: RowTable = new RowTable()) {}

  get size(): number {
    return this.table.ids.length;
  }

  /** The row's index in the order of first appearance; -1 if it is not known. */
  indexOf(id: string): number {
    // The same id is often looked up twice in succession.
    if (id === this.latest.id) return this.latest.index;
    const index = this.table.ids.find(this.hash.ofText(id));
    if (index >= 0) this.latest = { id, index };
    return index;
  }

  get(id: string): RowState | undefined {
    const index = this.indexOf(id);
    if (index < 0) return undefined;
    const { table } = this;
    const content = table.content.get(index);
    const asked = table.asked.get(index);
    const replaced = table.replaced.get(index) ?? none;
    return {
      status: statusOf(table.status.get(index)),
      attempts: table.attempts(index),
      isHeldBefore: table.heldBefore.has(index),
      isWhole: table.intentAt.get(index) * table.replyAt.get(index) > 0,
      sameContent: (hash) => {
        const bits = contentBits(hash);
        return content === 0 || content === bits || asked === bits || replaced.includes(bits);
      },
      isReplaced: (sent) =>
        replaced.length > 0 && [...hashesOf(sent)].some((hash) => replaced.includes(contentBits(hash))),
    };
  }

  *contents(): Generator<readonly [index: number, RowContent]> {
    for (let index = 0; index < this.size; index++)
      yield [
        index,
        {
          status: statusOf(this.table.status.get(index)),
          content: this.table.content.get(index),
          asked: this.table.asked.get(index),
          earlier: this.earlierOf(index),
        },
      ];
  }

  /** The first 32 bits of the content hashes with which the row was bought, or may have been, before it was reopened. */
  earlierOf(index: number): readonly number[] {
    const replaced = this.table.replaced.get(index) ?? none;
    const held = this.table.heldBefore.get(index);
    return held === undefined ? replaced : [...replaced, ...held.flatMap(([, ...contents]) => contents)];
  }

  /** Whether it was bought before it was redone, or may have been before it was sent with another content. */
  private hasOther(index: number): boolean {
    const { replaced, heldBefore, content } = this.table;
    const isOther = ([, ...contents]: HeldBefore) => !contents.includes(content.get(index));
    return replaced.has(index) || heldBefore.get(index)?.some(isOther) === true;
  }

  /** Whether any row was bought, or may have been, with another content than its last one. */
  get haveOther(): boolean {
    const { replaced, heldBefore } = this.table;
    return replaced.size > 0 || [...heldBefore.keys()].some((index) => this.hasOther(index));
  }

  /** Whether the row with this hash of its id has ended with this content, never had other content, and stays as it is. */
  isLeftAlone(id: Pick<IdHash, 'high' | 'low'>, bits: number, retried: ReadonlySet<RowStatus>): boolean {
    const index = this.table.ids.find(id);
    if (index < 0 || this.hasOther(index)) return false;
    const status = statusOf(this.table.status.get(index));
    const content = this.table.content.get(index);
    return isEnd(status) && !retried.has(status) && (content === 0 || content === bits);
  }

  /** Adds the row, or changes the given fields. */
  set(id: string, state: { status: RowStatus; hash?: string; attempts?: number }): void {
    const index = this.table.ids.add(this.hash.ofText(id));
    this.table.status.set(index, statusBytes[state.status]);
    if (state.hash !== undefined) this.table.content.set(index, contentBits(state.hash));
    if (state.attempts !== undefined) this.table.setAttempts(index, state.attempts);
  }
}

/** The first eight hex digits of the hash as a number. */
export function contentBits(hash: string): number {
  return hashWord(hash, 0);
}

/**
 * Rows of the journal that the manifest still has, with the id and the content that were sent. Requests of all other rows, and
 * earlier versions of rows that were redone, may be in the manifest under other ids, for example after rows were renamed or
 * renumbered.
 */
export class RowsInManifest {
  readonly #inManifest = new RowSet();
  /** Of rows that were redone, the first 32 bits of the content hash that is asked for. */
  readonly #versions = new Map<number, number>();
  #count = 0;

  constructor(
    private readonly rows: Pick<RowStates, 'indexOf' | 'size' | 'earlierOf' | 'haveOther'> | undefined,
  ) {}

  add(id: string, hash: string): void {
    const index = this.rows?.indexOf(id) ?? -1;
    if (index < 0 || this.#inManifest.has(index)) return;
    this.#inManifest.add(index);
    if (this.rows?.earlierOf(index) !== none) this.#versions.set(index, contentBits(hash));
    this.#count++;
  }

  /** Counts rows that need not be read: they ended with the content that is in the manifest. */
  leaveOut(rows: number): void {
    this.#count += rows;
  }

  /**
   * @param index the row's index in the journal
   * @param content the first 32 bits of a content hash. Call this only after all rows of the manifest were read.
   */
  has(index: number, content: number): boolean {
    return this.#inManifest.has(index) && (this.#versions.get(index) ?? content) === content;
  }

  /** All that the run has bought is in the manifest. */
  get areAll(): boolean {
    return this.#count >= (this.rows?.size ?? 0) && this.rows?.haveOther !== true;
  }
}
