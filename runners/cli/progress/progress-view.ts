import type { RunEvent } from '../../batch/internal.js';

/** The state of a run at one moment, for the display. */
export interface ProgressView {
  /** Rows of the manifest that this start does or that ended before. `undefined` until they are counted. */
  readonly rows: number | undefined;
  /** Rows of the run that are not in this manifest: not counted in `total`. */
  readonly others: number;
  /** Rows that had ended before this start. */
  readonly endedBefore: number;
  readonly completed: number;
  readonly failed: number;
  /** Rows that are held because they may have been accepted. */
  readonly unknown: number;
  /** Completed rows whose file is not downloaded yet. They do not count as failed. */
  readonly undownloaded: number;
  /** Rows that have begun and have not ended, without those that are being saved. */
  readonly inFlight: number;
  /** In flight: sent and not answered. */
  readonly sending: number;
  /** In flight: at the service, which has not reported whether they wait or run. */
  readonly accepted: number;
  /** In flight: at the service, waiting for a worker. */
  readonly queued: number;
  /** Whether some statuses are old: a worker of the service may have started these jobs since. */
  readonly isQueueOld: boolean;
  /** In flight: running at the service. */
  readonly working: number;
  /** Whether some statuses are old, or the last poll had no answer. */
  readonly isWorkOld?: boolean;
  /** Rows with a reply: their picture or their lines are being saved. */
  readonly saving: number;
  readonly concurrency: number;
  readonly rowsPerMinute: number | undefined;
  readonly leftMs: number | undefined;
  readonly money: Pick<Extract<RunEvent, { type: 'money' }>, 'spent' | 'unknown' | 'cap'>;
  /** Time since something last moved. */
  readonly stillMs: number;
  /** Why nothing moves; `undefined` while something moves. */
  readonly cause: string | undefined;
  readonly stopping: boolean;
  /** The service is the embedded emulator: nothing is spent. */
  readonly isRehearsal?: boolean;
}
