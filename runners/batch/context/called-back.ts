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
  JobOfWaitingRow,
  HeldPost,
  NamedJob,
  JobOfPost,
} from './callback-port.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RunEvent } from './run-event.js';
import type { RowJobIds } from './run-job-ids.js';

/** Opens the port for callbacks. @throws {MillraceError} `usage` if the port is in use */
export type ListenForCallbacks = (
  options: NonNullable<ResolvedOptions['webhooks']>,
) => Promise<CallbackListener>;

/** A port that answers 503 until a run takes its callbacks. */
export interface CallbackListener {
  begin(parts: CallbackParts): Promise<RunCallbacks>;
  close(): Promise<void>;
}

/** The parts of an open run that callbacks use. */
export interface CallbackParts {
  readonly options: Pick<ResolvedOptions, 'disk' | 'out' | 'scheduler' | 'onUnknown'>;
  readonly journal: Pick<Journal, 'find'>;
  readonly log: RunLog;
  readonly events: Subject<RunEvent>;
  readonly stops: Stops;
}

export interface RunCallbacks {
  readonly address: CallbackAddress;
  /** The callbacks of a row's next job, or of the one that it has. */
  row(row: RowInFlight): JobWebhook;
  /** Emits once a callback has named the job of a row's latest POST, while the row waits to be sent again. */
  jobNamed(row: RowInFlight): Observable<unknown>;
  /** The job that `jobNamed` is about; it counts as polled from now on. `undefined` if no callback has named one. */
  takeNamed(row: RowInFlight): JobOfWaitingRow | undefined;
  /** Wraps the schedule: polls are rare while callbacks arrive. */
  poll(schedule: PollSchedule): PollSchedule;
  /** Call it when work on the row begins, here or elsewhere: its state from earlier starts is no longer valid. */
  begin(task: TaskOf<'send' | 'poll'>): void;
  /**
   * Call it when nobody works on any row, here or elsewhere: from now on the records of a row, including those of this start,
   * decide what a callback about it means.
   */
  endWork(rows: ReadonlyMap<string, RowRecords>): void;
  /**
   * Rows that nobody works on and that were to be sent again, with the jobs that callbacks have named; they count as
   * polled from now on.
   */
  takeLeft(): readonly JobOfWaitingRow[];
  /** Sets where job ids are claimed from now on. */
  useJobIds(jobIds: Pick<RowJobIds, 'claim'>): void;
  /** Call it when the row has ended as unknown in this start, because of this POST. */
  hold(id: string, post: HeldPost): void;
  /**
   * Handles a genuine callback about a row that nobody works on: if the row is held as unknown, it has this job, which is
   * polled later.
   */
  orphan(callback: JobOfPost): Observable<CallbackResult>;
  /** Call it when the job that a callback has named for this held row is polled. */
  taken(id: string): void;
  /** By row: jobs of rows that are held as unknown, as named by callbacks. */
  readonly named: ReadonlyMap<string, NamedJob>;
  /** `undefined` if other processes work on the rows and no call came to this process. */
  readonly counts: CallbackCounts | undefined;
  /** Whether a row of this start was sent with a callback URL. */
  readonly isUsed: boolean;
}
