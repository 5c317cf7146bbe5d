import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowRecords } from '../journal/journal.js';
import type { IntentRecord, OutcomeRecord } from '../journal/record.js';
import type { Row } from '../manifest/manifest-row.js';
import type { Plan } from '../manifest/plan-manifest.js';
import type { ExpiringPictures } from '../pictures/expiring-pictures.js';
import type { PictureNames } from '../pictures/picture-names.js';
import type { Projections } from '../sinks/projections.js';
import type { Ahead } from '../start/check/ahead.js';
import type { RunCallbacks } from './called-back.js';
import type { JournalWriter } from './journal-writer.js';
import type { LearnedPolling } from './learned-polling.js';
import type { PurchaseContext, PictureRules } from './purchase-context.js';
import type { ResolvedOptions } from './resolved-options.js';

/** A checked and open run that this process holds, which its stages share. */
export interface Run extends PurchaseContext {
  /**
   * The options of the run, validated and with defaults filled in.
   * @hidden its fields are those of `RunBatchOptions`, where they are described
   */
  readonly options: ResolvedOptions;
  readonly journal: JournalWriter;
  readonly projections: Projections;
  readonly pictures: PictureRules & { readonly names: PictureNames; readonly expiring: ExpiringPictures };
  /** The run's part of the ledger that runs share; absent without one. */
  readonly day:
    | {
        /** Waits until all pending bookings are in that ledger. */
        flush(): Promise<void>;
      }
    | undefined;
  readonly callbacks?: RunCallbacks | undefined;
  readonly plan: Plan;
  readonly ahead: Ahead;
  readonly reopened: ReopenedRows & RecoveredSent;
  /** Rows of the manifest that earlier starts left unfinished: `limit` does not count them. */
  readonly pending: ReadonlySet<string>;
  /** When to poll jobs. */
  readonly polling: LearnedPolling;
  /** Whether the folder of pictures is gone although earlier starts saved pictures in it. */
  readonly lostPictures: boolean;
  readonly startedAt: number;
  /**
   * Notes the hashes of some rows that are sent, by which starts of the same rows in other folders find this run. `similar`: without
   * pictures that are uploaded.
   */
  readonly noteRows: (
    rows: Partial<Readonly<Record<'sample' | 'similar', readonly string[]>>>,
  ) => Promise<void>;
  /**
   * Call it before a row that has arrived is sent.
   *
   * @throws {LockError} `held` if another run sends the same on which a process works
   */
  readonly announce: (row: Row) => Promise<void>;
}

/** Rows that had ended and are continued, in addition to those of the manifest. */
export interface ReopenedRows {
  /** Rows whose job is polled once more, with the price that is reserved for them again. */
  readonly polled: ReadonlyMap<
    string,
    { readonly price: MicroDollars | null; readonly intent: IntentRecord | undefined }
  >;
  /** The number of rows whose pictures or files are downloaded once more. */
  readonly downloaded: number;
  /** Completed rows with files that were not asked for before: how many, and a test for them. */
  readonly forFiles?: { readonly rows: number; readonly lacks: (row: RowRecords) => boolean } | undefined;
  /** The number of completed rows that are to be redone but do not fit under the cap: they stay in the results as they are. */
  readonly kept: number;
}

/** What happened to the requests that were sent but not answered when the last start ended. */
export interface RecoveredSent {
  /** Rows that may have been accepted: a person decides. */
  readonly held: readonly { readonly id: string; readonly row: number; readonly outcome: OutcomeRecord }[];
  /** The number of rows that are sent again because of `onUnknown: 'retry'`. */
  readonly doubled: number;
}
