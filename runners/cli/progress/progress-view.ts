import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

/** Where a run stands at one moment: all that the display shows. */
export interface ProgressView {
  /** Rows of the manifest that this run takes up or had ended before. `undefined` until they are counted. */
  readonly rows: number | undefined;
  /** Rows of the run that this manifest does not have: they are none of these. */
  readonly others: number;
  /** Rows that had ended before this start. */
  readonly endedBefore: number;
  readonly completed: number;
  readonly failed: number;
  /** Rows that are held because they may have been accepted. */
  readonly unknown: number;
  /** Rows that have completed and whose file was not downloaded: they have not failed. */
  readonly undownloaded: number;
  /** Rows that have been begun and have not ended, those being saved not counted. */
  readonly inFlight: number;
  /** Of those in flight: sent and not answered. */
  readonly sending: number;
  /** Of those in flight: at the service, which has not said yet whether they wait there or are worked on. */
  readonly accepted: number;
  /** Of those in flight: at the service, waiting for a worker. */
  readonly queued: number;
  /** Some of these have not been asked about for a while: a worker may have taken them up. */
  readonly isQueueOld: boolean;
  /** Of those in flight: at the service, being worked on. */
  readonly working: number;
  /** Some of these have not been asked about for a while, or without an answer. */
  readonly isWorkOld?: boolean;
  /** Rows whose reply is there: their picture is being saved, or their lines in the files are. */
  readonly saving: number;
  readonly concurrency: number;
  readonly rowsPerMinute: number | undefined;
  readonly leftMs: number | undefined;
  readonly money: {
    readonly spent: MicroDollars;
    readonly unknown: MicroDollars;
    readonly cap?: MicroDollars;
  };
  /** Since something last moved. */
  readonly stillMs: number;
  /** Why nothing moves, while nothing moves. */
  readonly cause: string | undefined;
  readonly stopping: boolean;
  /** The service is the embedded emulator: nothing is spent. */
  readonly isRehearsal?: boolean;
}
