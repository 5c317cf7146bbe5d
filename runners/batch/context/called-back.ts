import type { Subject } from 'rxjs';
import type { JobWebhook } from '../../../src/policy/job-webhook.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { Journal } from '../journal/journal.js';
import type { RunLog } from '../log/open-log.js';
import type { RowInFlight } from '../row/row-in-flight.js';
import type { Stops } from '../stop/stops.js';
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
  /** Those of a row's next job, or of the one that it has. */
  row(row: RowInFlight): JobWebhook;
  /** Polls that are rare while callbacks come. */
  poll(schedule: PollSchedule): PollSchedule;
  /** Jobs of rows are known by these ids from now on. */
  useJobIds(jobIds: RowJobIds): void;
  /** Jobs of rows that are held as unknown, which callbacks have named, by row. */
  readonly named: ReadonlyMap<string, NamedJob>;
  readonly counts: CallbackCounts;
  /** A row of this start has named an address. */
  readonly isUsed: boolean;
}

/** What a callback has said of a POST that is held. */
export interface NamedJob {
  /** Its number among the POSTs of the row. */
  readonly attempt: number;
  readonly jobId: string;
}

/** Calls of this start. */
export interface CallbackCounts {
  /** Jobs whose end they were, or that they informed about. */
  taken: number;
  /** Forged, unreadable, or about another job: nothing changed. */
  refused: number;
}
