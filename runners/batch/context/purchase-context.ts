import type { RunService } from './run-service.js';
import type { Subject } from 'rxjs';
import type { Ledger } from '../ledger/ledger.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { RunLog } from '../log/open-log.js';
import type { StartCounts } from '../row/run-tally.js';
import type { Projections } from '../sinks/projections.js';
import type { DayMoney } from '../start/money/day-money.js';
import type { Stops } from '../stop/stops.js';
import type { PictureHost } from '../uploads/picture-host.js';
import type { ExpiringPictures } from '../pictures/expiring-pictures.js';
import type { PictureNames } from '../pictures/picture-names.js';
import type { JournalWriter } from './journal-writer.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RunEvent } from './run-event.js';

/** What a row needs from its reservation to its end: all that the stages `purchase`, `pictures` and `end` know of a run. */
export interface PurchaseContext {
  /** @hidden its fields are those of `RunBatchOptions`, where they are described */
  readonly options: PurchaseOptions;
  readonly journal: JournalWriter;
  /** The files that follow from the journal. */
  readonly projections: Projections;
  readonly money: RunMoney;
  readonly service: RunService;
  readonly pictures: RunPictures;
  readonly stops: Stops;
  /** Whether so many rows of this start have failed that the run stops. */
  readonly isHalted: (counts: StartCounts) => boolean;
  /** Rows that are begun and have not ended. */
  readonly toDo: { rows: number };
  readonly log: RunLog;
  /** What the stages report beside what they emit. */
  readonly events: Subject<RunEvent>;
}

export type PurchaseOptions = Pick<
  ResolvedOptions,
  | 'deliver'
  | 'disk'
  | 'download'
  | 'downloads'
  | 'executionTimeoutsMs'
  | 'makeThumbnail'
  | 'maxPriceDriftPercent'
  | 'onUnknown'
  | 'out'
  | 'random'
  | 'retries'
  | 'runsyncTimeoutMs'
  | 'saveFrom'
  | 'scheduler'
  | 'secrets'
  | 'timeoutMs'
>;

/** The money of a run. */
export interface RunMoney {
  readonly ledger: Ledger;
  /** The ledger that runs share; absent where there is none. */
  readonly day: DayMoney | undefined;
  readonly prices: PriceBook;
}

/** The pictures of a run. */
export interface RunPictures {
  readonly names: PictureNames;
  /** Where pictures of this machine go; absent where they stay. */
  readonly host: PictureHost | undefined;
  /** Pictures of earlier starts whose URLs die soon. */
  readonly expiring: ExpiringPictures;
  /** What has been warned of once: formats that were not asked for, and edits without a picture. */
  readonly warned: Set<string>;
}
