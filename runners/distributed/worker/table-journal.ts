import {
  AsyncSubject,
  filter,
  firstValueFrom,
  merge,
  Observable,
  Subject,
  timer,
  type SchedulerLike,
} from 'rxjs';
import type { AnsweredId } from '../../../src/policy/job-ids.js';
import type { Journal } from '../../batch/journal/journal.js';
import { JournalError } from '../../batch/journal/journal-error.js';
import { UnfitRecord } from '../../batch/journal/line/record-line.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { RowsBooked, type Booked, type RowTask } from '../../batch/row/row-after.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { isAway } from '../database/database-error.js';
import type { Committed, Grant, Granted, Group } from '../table/commit-group.js';
import type { LateJob } from '../table/release-rows.js';
import { RunGone } from '../table/run-ledger.js';
import { placeOf, type Claim, type EndedRow, type TableRow } from '../table/rows.js';
import { SeatLost } from '../table/seats.js';
import { emit, endsOf, plus, sumOf, textOf, type WaitingRecord } from './waiting-record.js';

export interface TableJournalOptions {
  /** `commitGroup` for one seat. It repeats what fails because the database is away: the same group may come again. */
  readonly commit: (group: Group) => Promise<Committed>;
  readonly scheduler: SchedulerLike;
  /** A picture of a paid row is saved by this worker; else the row leaves it with its reply. */
  readonly savesPictures: boolean;
  /** What the worker takes with the next group, when it has this many rows; `undefined`: nothing. Asked for each group while rows wait. */
  readonly claim: (rows: number) => Claim | undefined;
  /** The values of a row in the columns that have caps. @defaultValue no column has one */
  readonly valuesOf?: (task: RowTask) => readonly string[];
  readonly onClaimed: (rows: readonly TableRow[]) => void;
  /** Nothing can be written any more. */
  readonly onFailed: () => void;
  /** A record that names a job came when the worker had been taken for dead. */
  readonly onLate: (late: LateJob) => void;
}

interface HeldRow extends EndedRow {
  readonly values: readonly string[];
  attempt: number;
}

type Asked<T, R> = T & { readonly resolve: (answer: R) => void; readonly reject: (error: unknown) => void };

/** What comes at once is written together … */
const gatherMs = 2;
/** … and records wait this long for others, unless half of the worker's rows have one: commits are what workers share. */
const patienceMs = 25;

/**
 * The journal of a worker, in a table that all workers of a run write to. What waits is written in one transaction, which gives the
 * worker new rows as well; what arrives meanwhile goes with the next one. It recovers nothing: each row brings what is known of it.
 */
export class TableJournal implements Pick<Journal, 'append' | 'close'> {
  private waiting: WaitingRecord[] = [];
  private jobs: Asked<AnsweredId, string | undefined>[] = [];
  private grants: Asked<Grant, Granted>[] = [];
  private left = new Set<string>();
  private blocked: Record<string, string> = {};
  private stopping: StopCause | undefined;
  private mayClaim = true;
  private groups = 0;
  private running: Promise<void> | undefined;
  private readonly arrived = new Subject<void>();
  private failure: JournalError | undefined;
  private readonly held = new Map<string, HeldRow>();
  private readonly ids = new Map<string, string>();
  /** Booked by records that the table refused: those that take their places book it. */
  private readonly owed = new Map<string, Booked>();
  private readonly books = new RowsBooked();

  constructor(private readonly options: TableJournalOptions) {}

  /** How many rows the worker has. */
  get rows(): number {
    return this.held.size;
  }

  /** The worker was taken for dead, or the run has gone. */
  get isLost(): boolean {
    const { cause } = this.failure ?? {};
    return cause instanceof SeatLost || cause instanceof RunGone;
  }

  append(record: JournalRecord): Observable<number> {
    let done: AsyncSubject<number> | undefined;
    return new Observable<number>((subscriber) => {
      done ??= this.add(record as RowRecord);
      return done.subscribe(subscriber);
    });
  }

  /** Claims a job for the row whose POST was answered with it; resolves to the row that has it, if there is one. */
  claimJob(answered: AnsweredId): Promise<string | undefined> {
    return this.ask(this.jobs, answered);
  }

  /** Reserves more for a row than it was taken with. */
  grant(id: string, grant: Omit<Grant, 'item'>): Promise<Granted> {
    return this.ask(this.grants, { ...grant, item: this.held.get(id)?.item ?? '' });
  }

  /** The row is not done in this start: the service does not know its endpoint, or the cap of a value has no room for it. */
  leave(id: string, blocked: Readonly<Record<string, string>>): void {
    this.left.add(id);
    Object.assign(this.blocked, blocked);
    this.flush();
  }

  /** Stops the run for all workers. */
  stop(cause: StopCause): void {
    this.stopping ??= cause;
    this.flush();
  }

  /** Rows may wait. */
  wake(): void {
    this.mayClaim = true;
    this.flush();
  }

  /** Waits for what is queued. Later appends error. */
  async close(): Promise<void> {
    await this.running;
    this.failure ??= new JournalError('journal-io', 'The journal of the run is closed.');
  }

  private ask<T, R>(asked: Asked<T, R>[], what: T): Promise<R> {
    return new Promise((resolve, reject) => {
      asked.push({ ...what, resolve, reject });
      this.flush();
    });
  }

  private add(record: RowRecord): AsyncSubject<number> {
    const done = new AsyncSubject<number>();
    try {
      if (this.failure) {
        this.noteLateIn(record);
        throw this.failure;
      }
      const text = textOf(record);
      const row = this.held.get(record.id);
      if (row === undefined) throw new Error(`row ${JSON.stringify(record.id)} is none of this worker`);
      if (record.k === 'intent') row.attempt = record.attempt;
      const booked = plus(this.books.add(record), this.owed.get(row.item));
      this.owed.delete(row.item);
      this.waiting.push({ record, item: row.item, text, booked, done });
      this.flush();
    } catch (error) {
      done.error(error);
    }
    return done;
  }

  private flush(): void {
    if (this.failure !== undefined) return this.rejectAsked(this.failure);
    this.running ??= Promise.resolve().then(() => this.drain());
    this.arrived.next();
  }

  private async drain(): Promise<void> {
    while (this.failure === undefined && this.hasWork) {
      await this.gathered();
      await this.commit(this.waiting.splice(0));
    }
    // At once: what is queued from here on begins anew.
    this.running = undefined;
  }

  private async gathered(): Promise<void> {
    const { scheduler } = this.options;
    await firstValueFrom(timer(gatherMs, scheduler));
    const enough = this.arrived.pipe(filter(() => this.isEnough));
    if (!this.isEnough) await firstValueFrom(merge(timer(patienceMs, scheduler), enough));
  }

  private get isEnough(): boolean {
    return 2 * (this.waiting.length + this.jobs.length + this.grants.length) >= this.rows;
  }

  private get hasWork(): boolean {
    const { waiting, jobs, grants, left, stopping, mayClaim } = this;
    const isAsked = waiting.length + jobs.length + grants.length + left.size > 0 || stopping !== undefined;
    return isAsked || (mayClaim && this.options.claim(this.rows) !== undefined);
  }

  private async commit(batch: readonly WaitingRecord[]): Promise<void> {
    const jobs = this.jobs.splice(0);
    const grants = this.grants.splice(0);
    const rowJobs = jobs.map(({ endpoint, jobId, key }) => ({ endpoint, jobId, key }));
    const ends = endsOf(batch, this.options.savesPictures);
    const left = [...this.left].flatMap((id) => this.held.get(id)?.item ?? []);
    const ended = [...ends.ended, ...left].flatMap((item) => this.held.get(this.ids.get(item) ?? '') ?? []);
    // A slot becomes free.
    this.mayClaim ||= ended.length > 0;
    const group: Group = {
      number: ++this.groups,
      records: batch.map((one) => ({ item: one.item, text: one.text, isLast: ends.last.has(one) })),
      hasFailed: batch.some(({ record }) => record.k === 'outcome' && record.status === 'failed'),
      booked: sumOf(batch),
      ...this.valuesIn(batch, [
        ...ended.map(({ item }) => item),
        ...ends.freed,
        ...grants.map(({ item }) => item),
      ]),
      ...{ ended: ended.map(({ item, place }) => ({ item, place })), freed: ends.freed },
      ...{ jobs: rowJobs, grants, blocked: this.blocked, stop: this.stopping },
      claim: this.mayClaim ? this.options.claim(this.rows - ended.length) : undefined,
    };
    const leaving = this.left;
    this.left = new Set();
    try {
      const committed = await this.options.commit(group);
      this.stopping = undefined;
      this.blocked = {};
      batch.forEach((one, index) => emit(one, committed.after + index + 1));
      jobs.forEach(({ resolve }, index) =>
        resolve(committed.owners.get(rowJobs[index] as Group['jobs'][number])),
      );
      grants.forEach(({ resolve }, index) => resolve(committed.granted[index] ?? false));
      for (const { item } of ended) this.forget(item);
      this.take(committed, group.claim);
    } catch (error) {
      this.left = new Set([...leaving, ...this.left]);
      this.jobs.unshift(...jobs);
      this.grants.unshift(...grants);
      await this.afterFailure(batch, error);
    }
  }

  /** The values of the rows in a group, and what its records book for them. Nothing where no column has a cap. */
  private valuesIn(
    batch: readonly WaitingRecord[],
    items: readonly string[],
  ): Pick<Group, 'values' | 'bookedFor'> {
    const valuesOf = (item: string): readonly string[] => {
      const id = this.ids.get(item);
      return (id === undefined ? undefined : this.held.get(id))?.values ?? [];
    };
    const values = new Map(items.map((item) => [item, valuesOf(item)] as const));
    const bookedFor = batch.map(({ item, booked: { spent, unknown } }) => ({
      ...{ values: valuesOf(item), amount: spent + unknown },
    }));
    return { values, bookedFor: bookedFor.filter(({ values: { length } }) => length > 0) };
  }

  private take({ claimed, waiting, left = 0 }: Committed, claim: Claim | undefined): void {
    this.mayClaim = waiting > 0 && (claim === undefined || claimed.length + left > 0);
    const fresh = claimed.filter(({ item }) => !this.ids.has(item));
    for (const { item, task } of fresh) {
      this.ids.set(item, task.row.id);
      this.held.set(task.row.id, {
        item,
        place: placeOf(task),
        attempt: task.attempts,
        values: this.options.valuesOf?.(task) ?? [],
      });
      if (task.what === 'poll' && task.intent !== undefined) this.books.add(task.intent);
    }
    if (fresh.length > 0) this.options.onClaimed(fresh);
  }

  private forget(item: string): void {
    const id = this.ids.get(item);
    this.ids.delete(item);
    if (id !== undefined) this.held.delete(id);
  }

  /** One record that the table refuses keeps no other from it. */
  private async afterFailure(batch: readonly WaitingRecord[], error: unknown): Promise<void> {
    if (error instanceof SeatLost || error instanceof RunGone || isAway(error))
      return this.fail(batch, error);
    const rows = new Set(batch.map(({ item }) => item));
    if (batch.length === 0 || rows.size === 0) return this.fail(batch, error);
    if (rows.size > 1) {
      for (const item of rows) await this.commit(batch.filter((one) => one.item === item));
      return;
    }
    // The books forget a row that has ended: what comes in place of its records is booked anew.
    const isForgotten = batch.some(({ record }) => record.k === 'outcome' && record.source !== 'unknown');
    for (const { done, record, item, booked } of batch) {
      if (!isForgotten) this.owed.set(item, plus(booked, this.owed.get(item)));
      done.error(new UnfitRecord(record, error));
    }
  }

  private fail(batch: readonly WaitingRecord[], cause: unknown): void {
    const message = cause instanceof Error ? cause.message : String(cause);
    this.failure = new JournalError('journal-io', `The journal of the run cannot be written: ${message}`, {
      cause,
    });
    for (const { done, record } of [...batch, ...this.waiting.splice(0)]) {
      this.noteLateIn(record);
      done.error(this.failure);
    }
    this.rejectAsked(this.failure);
    this.options.onFailed();
  }

  private rejectAsked(error: JournalError): void {
    for (const { key, jobId } of this.jobs) this.noteLate(key, jobId);
    for (const { reject } of [...this.jobs.splice(0), ...this.grants.splice(0)]) reject(error);
  }

  private noteLateIn(record: RowRecord): void {
    const jobId = 'jobId' in record && record.k !== 'intent' ? record.jobId : undefined;
    if (jobId !== undefined) this.noteLate(record.id, jobId);
  }

  private noteLate(id: string, jobId: string): void {
    const attempt = this.held.get(id)?.attempt;
    if (attempt !== undefined) this.options.onLate({ id, attempt, jobId });
  }
}
