import type { RunEvent } from '../../batch/internal.js';
import type { LiveState } from '../../report/watch/live-state.js';

/** The state of a run at one moment, for the display. */
export interface ProgressView
  extends
    Pick<LiveState, 'inFlight' | 'queued' | 'working' | 'isWorkOld' | 'saving'>,
    Required<Pick<LiveState, 'sending' | 'accepted' | 'isQueueOld'>> {
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
