import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowRecords } from '../journal/journal.js';
import type { IntentRecord, OutcomeRecord } from '../journal/record.js';
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

/** A run that is held by this process, checked and open: what its stages share. */
export interface Run extends PurchaseContext {
  /**
   * What the run was started with, checked and filled in.
   * @hidden its fields are those of `RunBatchOptions`, where they are described
   */
  readonly options: ResolvedOptions;
  readonly journal: JournalWriter;
  readonly projections: Projections;
  readonly pictures: PictureRules & { readonly names: PictureNames; readonly expiring: ExpiringPictures };
  /** Its part of the ledger that runs share; absent without one. */
  readonly day:
    | {
        /** Writes to the ledger what has changed since the last time. */
        flush(): Promise<void>;
      }
    | undefined;
  readonly callbacks?: RunCallbacks | undefined;
  readonly plan: Plan;
  readonly ahead: Ahead;
  readonly taken: TakenUp & RecoveredSent;
  /** Rows of the manifest that earlier starts left unfinished: `limit` does not count them. */
  readonly pending: ReadonlySet<string>;
  /** When to ask for jobs. */
  readonly polling: LearnedPolling;
  /** The folder of pictures is gone, and pictures of earlier starts were in it. */
  readonly lostPictures: boolean;
  readonly startedAt: number;
}

/** Rows that had ended and are taken up again, beside those of the manifest. */
export interface TakenUp {
  /** Ids whose job is polled once more, with what is reserved for them again. */
  readonly polled: ReadonlyMap<
    string,
    { readonly price: MicroDollars | null; readonly intent: IntentRecord | undefined }
  >;
  /** How many pictures are fetched once more. */
  readonly downloaded: number;
  /** Completed rows that are taken up for files which were not asked for before: how many, and which. */
  readonly forFiles?: { readonly rows: number; readonly lacks: (row: RowRecords) => boolean } | undefined;
  /** Completed rows that are to be redone and do not fit under the cap: they stay in the results as they are. */
  readonly kept: number;
}

/** What became of the requests that were out when the last start ended. */
export interface RecoveredSent {
  /** They may have been accepted: a person decides. */
  readonly held: readonly { readonly id: string; readonly row: number; readonly outcome: OutcomeRecord }[];
  /** How many are sent again, as the user prefers. */
  readonly doubled: number;
}
