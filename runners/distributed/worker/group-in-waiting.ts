import type { RowJob } from '../table/claim-jobs.js';
import type { Committed, Group } from '../table/commit-group.js';
import type { NewRecord } from '../table/records.js';
import type { Claim, TableRow } from '../table/rows.js';
import { DatabasePutBack } from '../table/seats.js';
import type { AsyncSubject } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { UnfitRecord } from '../../batch/journal/line/record-line.js';
import type { Booked } from '../../batch/row/row-after.js';
import type { RowBooks } from '../../batch/row/row-books.js';
import { headOf, type RowRecord } from '../../batch/row/record-head.js';
import { mostText } from '../database/transaction.js';
import { isEnd, nextStatus } from '../../batch/row/row-status.js';

export interface AskedJob {
  readonly job: RowJob;
  readonly resolve: (owner: string | undefined) => void;
  readonly reject: (error: unknown) => void;
  /** The answer that the row received. The group may have to be written again, with the same answer. */
  answer?: { readonly owner: string | undefined };
}

export interface Drawn {
  readonly batch: readonly WaitingRecord[];
  /** Intents that are not written, because nothing more may be bought. */
  readonly unsent: readonly WaitingRecord[];
  /** Records that followed from the answers to its jobs. */
  readonly accepted: WaitingRecord[];
  readonly jobs: readonly AskedJob[];
  /** Rows that leave without a record. */
  readonly left: readonly HeldRow[];
  readonly leaving: readonly HeldRow[];
  readonly freed: readonly HeldRow[];
  readonly group: Group;
}

interface GroupOptions {
  readonly savesPictures: boolean;
  readonly claim: (rows: number) => Claim | undefined;
}

/** Collects the records and claims that a worker writes with its next group. */
export class GroupInWaiting {
  /** Rows may be waiting in the queue, and slots may be free. */
  mayClaim = true;
  private records: WaitingRecord[] = [];
  private jobs: AskedJob[] = [];
  private readonly left = new Set<HeldRow>();
  /** Rows with a record or a job that waits. */
  private readonly asking = new Set<string>();
  /** How many rows have left since the last claim. */
  private unclaimed = 0;
  /** Whether the last group made no claim, because only a few slots were free. */
  private isPassedOver = false;

  constructor(private readonly options: GroupOptions) {}

  /** How many rows have a record or a job that waits. */
  get rows(): number {
    return this.asking.size;
  }

  add(record: WaitingRecord): void {
    this.records.push(record);
    this.asking.add(record.row.id);
  }

  ask(asked: AskedJob): void {
    this.jobs.push(asked);
    this.asking.add(asked.job.key);
  }

  leave(row: HeldRow): void {
    this.left.add(row);
  }

  /** Whether there is something to write or to claim, for a worker that has this many rows. */
  isDue(held: number): boolean {
    const { records, jobs, left, mayClaim } = this;
    return (
      records.length + jobs.length + left.size > 0 || (mayClaim && this.options.claim(held) !== undefined)
    );
  }

  /** @param batch records in place of those that wait */
  draw(held: number, batch: readonly WaitingRecord[] = this.takeSome()): Drawn {
    const jobs = this.takeJobs();
    this.asking.clear();
    for (const { row } of this.records) this.asking.add(row.id);
    const { last, ended, freed } = endsOf(batch, this.options.savesPictures);
    const left = [...this.left].filter(({ id }) => !this.asking.has(id));
    for (const row of left) this.left.delete(row);
    const leaving = [...new Set([...ended, ...left])];
    const group: Group = {
      records: batch.map((one) => newRecord(one, last.has(one))),
      hasFailed: batch.some(({ record }) => record.k === 'outcome' && record.status === 'failed'),
      ended: leaving,
      freed: freed.map(({ item }) => item),
      jobs: jobs.map(({ job }) => job),
      claim: this.claimFor(held - leaving.length, leaving.length),
    };
    return { batch, unsent: [], accepted: [], jobs, left, leaving, freed, group };
  }

  /** Adds the records that follow from the answers to the group's jobs. They book no money, and no row leaves with them. */
  drawAccepted({ accepted, jobs }: Drawn): readonly NewRecord[] {
    const rows = new Set(jobs.map(({ job }) => job.key));
    const stay: WaitingRecord[] = [];
    for (const one of this.records) {
      const { record, row, booked } = one;
      // Takes only the next record of each row, because records must stay in order.
      const isNext = rows.delete(row.id) && record.k === 'accepted' && booked.spent + booked.unknown === 0;
      (isNext ? accepted : stay).push(one);
      if (isNext) this.asking.delete(row.id);
    }
    this.records = stay;
    return accepted.map((one) => newRecord(one, false));
  }

  /** The group could not be written: everything but its records waits again. Returns the records. */
  putBack({ batch, accepted, unsent, left, jobs }: Drawn): WaitingRecord[] {
    for (const row of left) this.left.add(row);
    this.jobs.unshift(...jobs);
    return [...batch, ...accepted, ...unsent];
  }

  /** Updates `mayClaim` from the result of a group. */
  claimed(wasMade: boolean, { claimed, waiting, left }: Committed): void {
    if (waiting === 0) this.mayClaim = false;
    else if (wasMade) this.mayClaim = claimed.length + left > 0;
  }

  takeRecords(): WaitingRecord[] {
    return this.records.splice(0);
  }

  takeJobs(): AskedJob[] {
    return this.jobs.splice(0);
  }

  /**
   * All records that wait; if they are long, those of the first rows. The records of a row stay together, because a reply without
   * an outcome in its group may be taken for the row's last record.
   */
  private takeSome(): readonly WaitingRecord[] {
    let length = 0;
    const end = this.records.findIndex(({ text }) => (length += text.length) > mostText);
    if (end < 0) return this.takeRecords();
    const rows = new Set(this.records.slice(0, Math.max(end, 1)).map(({ row }) => row));
    const some = this.records.filter(({ row }) => rows.has(row));
    this.records = this.records.filter(({ row }) => !rows.has(row));
    return some;
  }

  /** A claim costs as much as ten records, so when only a few slots are free, one group is written without it first. */
  private claimFor(stay: number, leaving: number): Claim | undefined {
    // A slot becomes free with each row that leaves.
    this.mayClaim ||= leaving > 0;
    this.unclaimed += leaving;
    const isFew = this.unclaimed > 0 && 2 * this.unclaimed < stay;
    this.isPassedOver = isFew && !this.isPassedOver;
    if (this.isPassedOver || !this.mayClaim) return undefined;
    this.unclaimed = 0;
    return this.options.claim(stay);
  }
}

/**
 * Emits the numbers of a group's records, and fails intents in a database in which nothing more may be bought. Returns the rows
 * whose intents are written there nevertheless: their requests are not sent.
 */
export function confirm({ batch, accepted, unsent }: Drawn, { after, isMoved }: Committed): HeldRow[] {
  const written = isMoved ? intentsToSend(batch) : [];
  for (const { done } of [...unsent, ...written]) done.error(new DatabasePutBack('moved'));
  for (const [index, { done }] of [...batch, ...accepted].entries()) {
    done.next(after + index + 1);
    done.complete();
  }
  return written.map(({ row }) => row);
}

/** The intents of requests that are sent once these records are written. */
function intentsToSend(batch: readonly WaitingRecord[]): readonly WaitingRecord[] {
  const lastOf = new Map(batch.map((one) => [one.row, one]));
  return batch.filter((one) => one.record.k === 'intent' && lastOf.get(one.row) === one);
}

/** The group as it is written where nothing more may be bought. */
export function withoutPurchases(drawn: Drawn): Drawn {
  const { batch, group } = drawn;
  const unsent = new Set(intentsToSend(batch));
  const isKept = (_: unknown, at: number): boolean => {
    const one = batch[at];
    return one !== undefined && !unsent.has(one);
  };
  return {
    ...drawn,
    batch: batch.filter(isKept),
    unsent: [...drawn.unsent, ...unsent],
    group: { ...group, records: group.records.filter(isKept), claim: undefined },
  };
}

/** The group as it is written in a database that has only so many groups, and has lost records of some of these rows. */
export function withoutLost(drawn: Drawn, rows: ReadonlyMap<string, HeldRow>, groups: number): Drawn {
  for (const row of rows.values()) row.isLost ||= row.group > groups;
  const { batch, group } = drawn;
  const isThere = ({ isLost }: HeldRow): boolean => !isLost;
  const isKept = (_: unknown, at: number): boolean => batch[at]?.row.isLost === false;
  const [leaving, freed] = [drawn.leaving.filter(isThere), drawn.freed.filter(isThere)];
  const jobs = drawn.jobs.filter(({ job }) => rows.get(job.key)?.isLost !== true);
  return {
    ...drawn,
    batch: batch.filter(isKept),
    unsent: [...drawn.unsent, ...batch.filter(({ row }) => row.isLost)],
    jobs,
    leaving,
    freed,
    group: {
      ...group,
      records: group.records.filter(isKept),
      ended: leaving,
      freed: freed.map(({ item }) => item),
      jobs: jobs.map(({ job }) => job),
    },
  };
}

function newRecord({ row, text, booked }: WaitingRecord, isLast: boolean): NewRecord {
  return { item: row.item, text, booked, isLast, unlisted: row.isUnlisted ? booked.spent : 0 };
}

/** A row that the worker has. */
export interface HeldRow extends Pick<TableRow, 'item' | 'task'> {
  readonly id: string;
  /** What the worker does for it; `undefined` once it has left the row, which may still have records that wait. */
  does: 'sends' | 'polls' | undefined;
  readonly books: RowBooks;
  /** Its cost counts towards the limit for prices in no list. */
  readonly isUnlisted: boolean;
  /** The number of its last POST. */
  attempt: number;
  /** The number of the last group with records of it; at first, of the group that took it. */
  group: number;
  /** The database was put back, and lacks that group. */
  isLost: boolean;
  /** The price reserved for it; `undefined` once its purchase has ended: a further purchase has to reserve again. */
  reserved: MicroDollars | undefined;
  /** Money of records that the table refused; the records that replace them must book it. */
  owed: Booked | undefined;
}

export interface WaitingRecord {
  readonly record: RowRecord;
  readonly row: HeldRow;
  readonly text: string;
  /** The money that it adds to the run's sums. */
  readonly booked: Booked;
  readonly done: AsyncSubject<number>;
}

/** @throws {UnfitRecord} */
export function textOf(record: RowRecord): string {
  try {
    return JSON.stringify(record);
  } catch (cause) {
    throw new UnfitRecord(record, cause);
  }
}

export function plus(one: Booked, other: Booked = { spent: 0, unknown: 0 }): Booked {
  return { spent: one.spent + other.spent, unknown: one.unknown + other.unknown };
}

/**
 * Finds in a group the records that are the last of their rows, the rows that are deleted with them, and the rows that stay
 * although their purchase has ended.
 */
export function endsOf(batch: readonly WaitingRecord[], savesPictures: boolean) {
  const lastOf = new Map(batch.map((one) => [one.row, one] as const));
  const last = new Set<WaitingRecord>();
  const freed = new Set<HeldRow>();
  for (const one of batch) {
    const status = nextStatus('open', headOf(one.record));
    const isOver = isEnd(status) || (status === 'replied' && !savesPictures);
    if (isOver && lastOf.get(one.row) === one) last.add(one);
    if (isEnd(status) || status === 'replied') freed.add(one.row);
  }
  const ended = new Set([...last].map(({ row }) => row));
  for (const row of ended) freed.delete(row);
  return { last, ended, freed: [...freed] };
}
