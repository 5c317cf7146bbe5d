import type { Subject } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { OutputPath } from '../artifacts/output-path.js';
import type { QueueEndpoint } from '../../../src/endpoints/queue-endpoint.js';
import type { RouteEndpoint } from '../../../src/endpoints/route-endpoint.js';
import type { DiskRoom } from '../disk/disk-room.js';
import type { Journal } from '../journal/journal.js';
import type { CapWatch } from '../ledger/cap-watch.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { RunLog } from '../log/open-log.js';
import type { PictureNames } from '../pictures/picture-names.js';
import type { EndedRow } from '../sinks/line-text.js';
import type { BlockedEndpoints } from '../stop/blocked-endpoints.js';
import type { CappedValue } from '../ledger/value-caps.js';
import type { FullValues } from '../stop/full-values.js';
import type { ServiceReach } from '../stop/service-reach.js';
import type { StopCause, Stops } from '../stop/stops.js';
import type { PictureHost } from '../uploads/picture-host.js';
import type { BesidePolls, Slots } from './beside-polls.js';
import type { RecentJobs } from '../../../src/policy/job-ids.js';
import type { RunCallbacks } from './called-back.js';
import type { ResolvedOptions } from './resolved-options.js';
import type { RunEvent } from './run-event.js';
import type { RowJobIds } from './run-job-ids.js';

/**
 * What a row needs from its reservation to its end: all that the stages `purchase`, `pictures` and `end` know of a run. They
 * are ports: what implements them is chosen where a run is opened.
 */
export interface PurchaseContext {
  /** @hidden its fields are those of `RunBatchOptions`, where they are described */
  readonly options: PurchaseOptions;
  readonly journal: Pick<Journal, 'append'>;
  /** Whether the journal may have lost a purchase of the row. */
  readonly mustHold: (id: string, row: number) => boolean;
  /** The files that follow from the journal. */
  readonly projections: RowLines;
  readonly money: RunMoney;
  /** Whether answers can be written; absent where they are not written here. */
  readonly room?: Pick<DiskRoom, 'look' | 'shortage'>;
  readonly service: RunService;
  readonly pictures: PictureRules;
  /** Where the service calls back about rows; absent where it does not. */
  readonly callbacks?:
    (Pick<RunCallbacks, 'row'> & Partial<Pick<RunCallbacks, 'found' | 'takeFound'>>) | undefined;
  readonly stops: Stops;
  /** Why the run stops after so many failed rows of this start; `undefined`: it goes on. @defaultValue it always does */
  readonly whyHalted?: () => StopCause | undefined;
  /** Rows that are begun and have not ended. */
  readonly toDo: { rows: number };
  /** Called with each row that leaves its slot before it has ended, and whose picture is not to be saved either. @defaultValue nothing follows */
  readonly rowLeft?: (id: string) => void;
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

/** Where the lines of rows are written. A call resolves when they are in the files. `record` is the number of the outcome; a row that is not current is bought again at once. */
interface RowLines {
  write(row: EndedRow, record: number, isCurrent: boolean): Promise<void>;
}

/** The money of a run. */
export interface RunMoney {
  readonly ledger: Ledger;
  /** Money that runs share, checked after the run's own ledger; absent without a shared ledger. */
  readonly shared: SharedMoney | undefined;
  /** Values whose caps had no room for a row. */
  readonly full: FullValues;
  readonly prices: PriceBook;
  /** Rows of no known price, and what they may cost together; absent where nothing limits it. */
  readonly unagreed?: { readonly rows: number; readonly mostUsd: number } | undefined;
  /** Tells when so much of a cap is taken; absent where nobody asked. */
  readonly watch?: Pick<CapWatch, 'look'> | undefined;
}

/** A budget beyond the run's own ledger: of all runs in a day, or of all workers of a run. */
export interface SharedMoney {
  /** False: the price does not fit. */
  reserve(id: string, price: MicroDollars | null): Promise<boolean>;
  /** The value whose cap leaves no room for the row that did not fit: the row is left, and the run goes on. */
  whyFull?(id: string): CappedValue | undefined;
  /** Why the run stops when a price did not fit. */
  whyStop(price: MicroDollars | null): StopCause;
}

/** The service, as the rows of a run share it. */
export interface RunService {
  /** The queue endpoint of that id. */
  readonly queues: (endpoint: string) => QueueEndpoint<unknown, unknown>;
  /** Absent where no {lb_base_url} is known. */
  readonly routes: RouteEndpoint | undefined;
  /** What goes to /run waits there behind all jobs that do not say so. @defaultValue false */
  readonly lowPriority?: boolean;
  /** How many rows may be in flight. */
  readonly slots: Slots;
  /** Which rows hold a slot. */
  readonly beside: BesidePolls;
  /** Which row has which job. */
  readonly jobIds: RowJobIds;
  /** Whether requests get through. */
  readonly reach: ServiceReach;
  /** Endpoints that the service does not know. */
  readonly blocked: BlockedEndpoints;
}

/** The pictures of a run. */
export interface PictureRules {
  readonly names: Pick<PictureNames, 'collides'>;
  /** Where in an output files lie that are saved as well. */
  readonly paths: readonly OutputPath[];
  /** This process saves pictures. If not, a picture in a reply stays there, and another process saves it. */
  readonly areSaved: boolean;
  /** Where pictures of this machine go; absent where they stay. */
  readonly host: PictureHost | undefined;
  /** Pictures of earlier starts whose URLs die soon. */
  readonly expiring: { saved(id: string): void };
  /** What has been warned of once: formats that were not asked for, fields without a file. */
  readonly warned: Set<string>;
  /** Edits of this start that completed without a picture. */
  readonly pictureless: { edits: number };
  /** Which of the last edits has a picture's address, and how many were answered with that of another row. */
  readonly addresses: Pick<RecentJobs, 'ownerOf' | 'keep'> & { shared: number };
}
