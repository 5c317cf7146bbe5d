import type { Subject } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { OutputPath } from '../artifacts/output-path.js';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import type { RouteEndpoint } from '../../../src/endpoints/route-endpoint.js';
import type { ReplyRoom } from '../../../src/operators/requests/reply-room.js';
import type { DiskRoom } from '../disk/disk-room.js';
import type { Journal } from '../journal/journal.js';
import type { OutcomeRecord } from '../journal/record.js';
import type { CapWatch } from '../ledger/cap-watch.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { RunLog } from '../log/open-log.js';
import type { PictureNames } from '../pictures/picture-names.js';
import type { EndedRow } from '../sinks/line-text.js';
import type { BlockedEndpoints, FullValues } from '../stop/skipped-rows.js';
import type { CappedValue } from '../ledger/value-caps.js';
import type { ServiceReach } from '../stop/service-reach.js';
import type { StopCause, Stops } from '../stop/stops.js';
import type { PictureHost } from '../uploads/picture-host.js';
import type { RowSlots, Slots } from './row-slots.js';
import type { RecentJobs } from '../../../src/policy/job-ids.js';
import type { RunCallbacks } from './called-back.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RunEvent } from './run-event.js';
import type { RowJobIds } from './run-job-ids.js';

/**
 * What a row needs from its reservation to its end: the part of a run that the stages `purchase`, `pictures` and `end` use. The
 * start of a run chooses the implementations.
 */
export interface PurchaseContext {
  /** @hidden its fields are those of `RunBatchOptions`, where they are described */
  readonly options: PurchaseOptions;
  readonly journal: Pick<Journal, 'append'>;
  /** Whether the journal may have lost a purchase of the row. */
  readonly mustHold: (id: string, row: number) => boolean;
  /** The files that follow from the journal. */
  readonly projections: {
    /**
     * Resolves when the lines of a row are in the files. `record` is the number of the outcome; a row that is not current is bought
     * again at once.
     */
    write(row: EndedRow, record: number, isCurrent: boolean): Promise<void>;
  };
  readonly money: RunMoney;
  /** Whether there is disk space for answers; absent if this process does not write them. */
  readonly room?: Pick<DiskRoom, 'look' | 'shortage'>;
  readonly service: RunService;
  readonly pictures: PictureRules;
  /** The callbacks of the service about rows; absent if there are none. */
  readonly callbacks?:
    (Pick<RunCallbacks, 'row'> & Partial<Pick<RunCallbacks, 'jobNamed' | 'takeNamed'>>) | undefined;
  readonly stops: Stops;
  /** Why the run stops at the end of this row; `undefined` if it goes on. @defaultValue the run always goes on */
  readonly whyHalted?: (ended: OutcomeRecord) => StopCause | undefined;
  /** The number of rows that are still to be done. */
  readonly toDo: { rows: number };
  /**
   * Called with each row that leaves its slot before it has ended, unless its picture is still to be saved. @defaultValue does
   * nothing
   */
  readonly rowLeft?: (id: string) => void;
  readonly log: RunLog;
  /** Receives the events that the stages report in addition to what they emit. */
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

export interface RunMoney {
  readonly ledger: Ledger;
  /** Money that runs share, checked after the run's own ledger; absent without a shared ledger. */
  readonly shared: SharedMoney | undefined;
  /** Values whose caps had no room for a row. */
  readonly full: FullValues;
  readonly prices: PriceBook;
  /** The run stops at a reported price that is this many percent above the price book's; absent if there is no limit. */
  readonly maxDriftPercent?: number | undefined;
  /** The number of rows without a known price, and the limit of their total cost in US dollars; absent if there is no limit. */
  readonly unagreed?:
    | {
        readonly rows: number;
        readonly mostUsd: number;
        /** The limit for rows whose price is in no list, also if the service has reported one before. */
        readonly agreed: MicroDollars;
        /** What was bought before, in ms since the epoch, is not counted: it was agreed to in an earlier start. */
        readonly since: number;
        /** What such rows have cost in this start, as far as this process knows. */
        spent: MicroDollars;
      }
    | undefined;
  /** Warns when a cap is nearly used up; absent if no warning was asked for. */
  readonly watch?: Pick<CapWatch, 'look'> | undefined;
}

/** A budget beyond the run's own ledger: of all runs in a day, or of all workers of a run. */
export interface SharedMoney {
  /** Resolves to false if the price does not fit. */
  reserve(id: string, price: MicroDollars | null): Promise<boolean>;
  /** The value whose cap has no room for the row: only this row is left, and the run continues. */
  whyFull?(id: string): CappedValue | undefined;
  /** Why the run stops when a price did not fit. */
  whyStop(price: MicroDollars | null): StopCause;
}

/** The service, as all rows of a run share it. */
export interface RunService {
  readonly queues: (endpoint: string) => QueueEndpoint<unknown, unknown>;
  /** Absent if {lb_base_url} is not given. */
  readonly routes: RouteEndpoint | undefined;
  /** Jobs sent to /run wait there behind all jobs without low priority. @defaultValue false */
  readonly lowPriority?: boolean;
  /** How many rows may be in flight. */
  readonly slots: Slots;
  readonly rowSlots: RowSlots;
  /** The room of replies, from their polls until the row is at its end. */
  readonly replies: Pick<ReplyRoom, 'hold'>;
  readonly jobIds: RowJobIds;
  /** Whether requests reach the service. */
  readonly reach: ServiceReach;
  /** Endpoints that the service does not know. */
  readonly blocked: BlockedEndpoints;
}

/** How the pictures of a run are named, saved and uploaded. */
export interface PictureRules {
  readonly names: Pick<PictureNames, 'collides'>;
  /** Paths in an output whose files are saved as well. */
  readonly paths: readonly OutputPath[];
  /** Whether this process saves pictures. If not, a picture in a reply stays there, and another process saves it. */
  readonly areSaved: boolean;
  /** Uploads local pictures; absent if they stay local. */
  readonly host: PictureHost | undefined;
  /** Pictures of earlier starts whose URLs expire soon. */
  readonly expiring: { saved(id: string): void };
  /** Keys of warnings already given: formats that were not asked for, fields without a file. */
  readonly warned: Set<string>;
  /** The number of edits of this start that completed without a picture. */
  readonly pictureless: { edits: number };
  /** The number of rows that ended in this start with the picture in their reply, because the one at its URL could not be fetched. */
  readonly previews: { edits: number };
  /** The owner of each picture URL among the latest edits, and how many edits were answered with the URL of another row. */
  readonly addresses: Pick<RecentJobs, 'ownerOf' | 'keep'> & { shared: number };
}
