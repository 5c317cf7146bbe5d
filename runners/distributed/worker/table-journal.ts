import { AsyncSubject, Observable, Subject, type SchedulerLike } from 'rxjs';
import { errorText, MillraceError } from '../../../src/contract/millrace-error.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { AnsweredId } from '../../../src/policy/job-ids.js';
import type { JobOfPost } from '../../batch/context/callback-port.js';
import type { Journal } from '../../batch/journal/journal.js';
import { JournalError } from '../../batch/journal/journal-error.js';
import { UnfitRecord } from '../../batch/journal/line/record-line.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { RowsBooked, type RowTask } from '../../batch/row/row-after.js';
import { isAway } from '../database/database-error.js';
import type { Committed, NextGroup, RowPrice } from '../table/commit-group.js';
import type { RowJob } from '../table/claim-jobs.js';
import type { NewRecord } from '../table/records.js';
import { RunGone } from '../table/run-ledger.js';
import type { Claim, Granted } from '../table/rows.js';
import { DatabasePutBack, SeatLost, type KnownCommits } from '../table/seats.js';
import { GroupTiming, type RowsInGroup } from './group-timing.js';
import {
  GroupInWaiting,
  confirm,
  type Drawn,
  plus,
  textOf,
  type HeldRow,
  type WaitingRecord,
  withoutLost,
  withoutPurchases,
} from './group-in-waiting.js';

export interface TableJournalOptions {
  /** `commitGroup` for one seat. Retries while the database is away, so the same group may be written again. */
  readonly commit: (next: NextGroup) => Promise<Committed>;
  /** `reserveMore` for one seat. */
  readonly reserve: (row: RowPrice) => Promise<Granted>;
  readonly scheduler: SchedulerLike;
  /** Whether this worker saves the pictures of paid rows. If not, a row leaves it with its reply. */
  readonly savesPictures: boolean;
  /**
   * The claim of the next group for a worker that has this many rows; `undefined` for none. Called for each group while
   * rows wait.
   */
  readonly claim: (rows: number) => Claim | undefined;
  /** Whether the cost of a row counts towards the limit for prices in no list. */
  readonly isUnlisted: (task: RowTask) => boolean;
  readonly onClaimed: (rows: readonly HeldRow[]) => void;
  /** Called when the journal cannot be written any more. */
  readonly onFailed: () => void;
  /** Called if a record names a job after the worker was declared dead. */
  readonly onLate: (late: JobOfPost) => void;
}

/**
 * The journal of a worker, in a table that all workers of a run write to. One transaction writes all waiting records and gives
 * the worker new rows; records that arrive meanwhile go with the next one. Nothing has to be recovered, because each row comes
 * with all that is known about it.
 */
export class TableJournal implements Pick<Journal, 'append' | 'close'> {
  private readonly waiting: GroupInWaiting;
  private readonly timing: GroupTiming;
  private known: KnownCommits = { groups: 0, seq: 0 };
  private running: Promise<void> | undefined;
  private readonly arrived = new Subject<void>();
  private failure: JournalError | undefined;
  /** The database was put back, and lacks groups of this worker. */
  private hasLost = false;
  /** The rows that the worker has, by id. */
  readonly held = new Map<string, HeldRow>();
  private readonly booked = new RowsBooked();

  constructor(private readonly options: TableJournalOptions) {
    this.waiting = new GroupInWaiting(options);
    this.timing = new GroupTiming(options.scheduler);
  }

  /** The worker was declared dead, or the run was deleted. */
  get isLost(): boolean {
    return this.cause instanceof SeatLost || this.cause instanceof RunGone;
  }

  /** Why nothing can be written: `SeatLost`, `RunGone`, `BrokenDatabase`, `DatabasePutBack`, or another error of the database. */
  get cause(): unknown {
    return this.failure?.cause;
  }

  append(record: JournalRecord): Observable<number> {
    let done: AsyncSubject<number> | undefined;
    return new Observable<number>((subscriber) => {
      done ??= this.add(record as RowRecord);
      return done.subscribe(subscriber);
    });
  }

  /**
   * Claims a job for the row whose POST was answered with it. Resolves to the key of the row that has the job already,
   * or to `undefined`.
   */
  claimJob({ endpoint, jobId, key }: AnsweredId): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.ask({ job: { endpoint, jobId, key }, resolve, reject });
      this.flush();
    });
  }

  /**
   * Reserves a price for a row, unless as much is reserved already. A row that does not fit under the cap of its value
   * leaves.
   */
  async reserve(id: string, price: MicroDollars | null): Promise<Granted> {
    const row = this.held.get(id);
    if (row === undefined || (row.reserved !== undefined && (price ?? 0) <= row.reserved)) return true;
    try {
      const granted = await this.options.reserve({ item: row.item, price });
      if (granted === true) row.reserved = price ?? 0;
      else if (granted !== false) this.leave(id);
      return granted;
    } catch (error) {
      // Only this row is left: what the others have sent is still written.
      throw error instanceof DatabasePutBack ? error : this.fail([], error);
    }
  }

  /** Skips the row in this start, because the service does not know its endpoint, or the cap of a value has no room for it. */
  leave(id: string): void {
    const row = this.held.get(id);
    if (row !== undefined) this.waiting.leave(row);
    this.flush();
  }

  /** Rows may be waiting in the queue. */
  wake(): void {
    this.waiting.mayClaim = true;
    this.flush();
  }

  /** Waits until all queued records are written. */
  async written(): Promise<void> {
    await this.running;
  }

  /** Waits likewise; later appends fail. Nothing may be awaited between the last check and the refusal. */
  async close(): Promise<void> {
    while (this.running !== undefined) await this.running;
    this.failure ??= new JournalError('journal-io', 'The journal of the run is closed.');
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
      if (row === undefined)
        throw new Error(`row ${JSON.stringify(record.id)} does not belong to this worker`);
      if (record.k === 'intent') row.attempt = record.attempt;
      const booked = plus(this.booked.add(row.books, record), row.owed);
      row.owed = undefined;
      this.waiting.add({ record, row, text, booked, done });
      this.flush();
    } catch (error) {
      done.error(error);
    }
    return done;
  }

  private flush(): void {
    if (this.failure !== undefined) return this.rejectJobs(this.failure);
    this.running ??= Promise.resolve().then(() => this.drain());
    this.arrived.next();
  }

  private async drain(): Promise<void> {
    while (this.failure === undefined && this.waiting.isDue(this.held.size)) {
      await this.timing.gathered(this.arrived, this.rowsInGroup);
      await this.commit();
    }
    // No await is allowed before this: a record queued from here on starts a new drain.
    this.running = undefined;
  }

  private readonly rowsInGroup = (): RowsInGroup => ({ rows: this.held.size, waiting: this.waiting.rows });

  /** Writes the given records, or those that wait once the table is locked. */
  private async commit(batch?: readonly WaitingRecord[]): Promise<void> {
    const { options, waiting } = this;
    const begunAt = options.scheduler.now();
    let drawn: Drawn | undefined;
    const draw = (mayBuy: boolean, has: number) => (drawn = this.draw({ mayBuy, has }, batch, drawn)).group;
    try {
      const answer = (owners: ReadonlyMap<RowJob, string>) => this.answered(drawn, owners);
      const committed = await options.commit({ known: this.known, draw, answer });
      this.timing.committed(options.scheduler.now() - begunAt, committed.isAlone);
      if (drawn !== undefined) this.committed(drawn, committed);
    } catch (error) {
      await this.afterFailure(drawn === undefined ? [] : waiting.putBack(drawn), error);
    }
  }

  private draw(
    { mayBuy, has }: { readonly mayBuy: boolean; readonly has: number },
    batch?: Drawn['batch'],
    before?: Drawn,
  ): Drawn {
    if (before === undefined) this.timing.drawn(this.rowsInGroup());
    const drawn = before ?? this.waiting.draw(this.held.size, batch);
    const written = mayBuy ? drawn : withoutPurchases(drawn);
    this.hasLost ||= has < this.known.groups;
    if (!this.hasLost) return written;
    const kept = withoutLost(written, this.held, has);
    const lost = written.jobs.filter((one) => !kept.jobs.includes(one));
    this.rejectJobs(new DatabasePutBack('moved'), lost);
    return kept;
  }

  /**
   * Answers the claims, so that the rows write their jobs in the same group. A group that is written again must get the
   * same answers.
   */
  private async answered(
    drawn: Drawn | undefined,
    owners: ReadonlyMap<RowJob, string>,
  ): Promise<readonly NewRecord[]> {
    const { jobs = [] } = drawn ?? {};
    for (const asked of jobs) {
      const owner = owners.get(asked.job);
      if (asked.answer !== undefined && asked.answer.owner !== owner)
        throw new JournalError('journal-io', `job ${asked.job.jobId} was free, and another row has it now`);
      asked.answer = { owner };
      asked.resolve(owner);
    }
    // Lets the rows react to their answers first.
    await Promise.resolve();
    return drawn === undefined ? [] : this.waiting.drawAccepted(drawn);
  }

  private committed(drawn: Drawn, committed: Committed): void {
    const { batch, accepted, unsent, leaving, freed, group } = drawn;
    for (const row of freed) row.reserved = undefined;
    const groups = this.known.groups + 1;
    this.known = { groups, seq: committed.after + batch.length + accepted.length };
    for (const { row } of [...batch, ...accepted]) row.group = groups;
    for (const { record } of unsent) this.noteLateIn(record);
    for (const { id } of confirm(drawn, committed))
      this.add({ k: 'refused', at: this.options.scheduler.now(), id, why: 'it was not sent' });
    for (const { id } of leaving) this.held.delete(id);
    this.waiting.claimed(group.claim !== undefined, committed);
    this.take(committed);
  }

  private take({ claimed }: Committed): void {
    const fresh: HeldRow[] = [];
    for (const { item, task, reserved } of claimed) {
      const { id } = task.row;
      if (this.held.has(id)) continue;
      const row: HeldRow = {
        id,
        item,
        task,
        does: task.what === 'poll' ? 'polls' : 'sends',
        books: this.booked.begin(task),
        reserved,
        isUnlisted: this.options.isUnlisted(task),
        attempt: task.attempts,
        group: this.known.groups,
        isLost: false,
        owed: undefined,
      };
      this.held.set(id, row);
      fresh.push(row);
    }
    if (fresh.length > 0) this.options.onClaimed(fresh);
  }

  /** Writes each half of the rows by itself, so that a record that the table refuses does not block the others. */
  private async afterFailure(batch: readonly WaitingRecord[], error: unknown): Promise<void> {
    const rows = new Set(batch.map(({ row }) => row));
    if (error instanceof MillraceError || isAway(error) || rows.size === 0)
      return void this.fail(batch, error);
    if (rows.size > 1) {
      const half = new Set([...rows].slice(0, rows.size / 2));
      await this.commit(batch.filter(({ row }) => half.has(row)));
      return this.commit(batch.filter(({ row }) => !half.has(row)));
    }
    for (const { done, record, row, booked } of batch) {
      row.owed = plus(booked, row.owed);
      done.error(new UnfitRecord(record, error));
    }
  }

  private fail(batch: readonly WaitingRecord[], cause: unknown): JournalError {
    const failure = (this.failure ??= new JournalError(
      'journal-io',
      `The journal of the run cannot be written: ${errorText(cause)}`,
      { cause },
    ));
    for (const { done, record } of [...batch, ...this.waiting.takeRecords()]) {
      this.noteLateIn(record);
      done.error(failure);
    }
    this.rejectJobs(failure);
    this.options.onFailed();
    return failure;
  }

  private rejectJobs(error: MillraceError, jobs = this.waiting.takeJobs()): void {
    for (const { job, reject } of jobs) {
      this.noteLate(job.key, job.jobId);
      reject(error);
    }
  }

  private noteLateIn(record: RowRecord): void {
    const jobId = 'jobId' in record && record.k !== 'intent' ? record.jobId : undefined;
    if (jobId !== undefined) this.noteLate(record.id, jobId);
  }

  private noteLate(id: string, jobId: string): void {
    const attempt = this.held.get(id)?.attempt;
    if (attempt !== undefined) this.options.onLate({ row: id, attempt, jobId });
  }
}
