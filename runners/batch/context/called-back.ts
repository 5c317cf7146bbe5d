import type { Observable, Subject } from 'rxjs';
import type { CallbackResult, JobWebhook } from '../../../src/policy/job-webhook.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { Journal, RowRecords } from '../journal/journal.js';
import type { RunLog } from '../log/open-log.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import type { TaskOf } from '../row/task.js';
import type { Stops } from '../stop/stops.js';
import type {
  CallbackAddress,
  CallbackCounts,
  FoundJob,
  HeldPost,
  NamedJob,
  NamedPost,
} from './callback-port.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RunEvent } from './run-event.js';
import type { RowJobIds } from './run-job-ids.js';

/** Opens the port for callbacks. @throws {MillraceError} `usage` where it is in use */
export type ListenForCallbacks = (
  options: NonNullable<ResolvedOptions['webhooks']>,
) => Promise<CallbackListener>;

/** A port that answers 503 until a run takes the callbacks that come to it. */
export interface CallbackListener {
  begin(parts: CallbackParts): Promise<RunCallbacks>;
  close(): Promise<void>;
}

/** What callbacks need of an open run. */
export interface CallbackParts {
  readonly options: Pick<ResolvedOptions, 'disk' | 'out' | 'scheduler' | 'onUnknown'>;
  readonly journal: Pick<Journal, 'find'>;
  readonly log: RunLog;
  readonly events: Subject<RunEvent>;
  readonly stops: Stops;
}

/** The callbacks of a run. */
export interface RunCallbacks {
  readonly address: CallbackAddress;
  /** Those of a row's next job, or of the one that it has. */
  row(row: RowInFlight): JobWebhook;
  /** Emits once a callback has named the job of a row's latest POST, while the row waits to be sent again. */
  found(row: RowInFlight): Observable<unknown>;
  /** That job, which is asked for from now on. `undefined`: no callback has named any. */
  takeFound(row: RowInFlight): FoundJob | undefined;
  /** Polls that are rare while callbacks come. */
  poll(schedule: PollSchedule): PollSchedule;
  /** The row is in work from now on, here or elsewhere: what earlier starts left of it holds no more. */
  begin(task: TaskOf<'send' | 'poll'>): void;
  /** No row is in work any more, here or elsewhere: what callbacks mean is decided by the records of their rows, of this start as well. */
  endWork(rows: ReadonlyMap<string, RowRecords>): void;
  /** Rows that nobody works on and that were to be sent again, with the jobs that callbacks have named: they are asked for from now on. */
  takeLeft(): readonly FoundJob[];
  /** Jobs of rows are known by these ids from now on. */
  useJobIds(jobIds: Pick<RowJobIds, 'claim'>): void;
  /** The row has ended as unknown in this start, by this POST. */
  hold(id: string, post: HeldPost): void;
  /** A genuine callback about a row that is not in work: one that is held as unknown has this job, which is asked for later. */
  orphan(callback: NamedPost): Observable<CallbackResult>;
  /** The job that a callback has named of this held row is asked for from now on. */
  taken(id: string): void;
  /** Jobs of rows that are held as unknown, which callbacks have named, by row. */
  readonly named: ReadonlyMap<string, NamedJob>;
  /** `undefined`: rows are in work elsewhere, and no call came here. */
  readonly counts: CallbackCounts | undefined;
  /** A row of this start has named an address. */
  readonly isUsed: boolean;
}
