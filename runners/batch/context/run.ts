import type { Subject } from 'rxjs';
import type { RouteEndpoint } from '../../../src/endpoints/route-endpoint.js';
import type { Ledger } from '../ledger/ledger.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { RunLog } from '../log/open-log.js';
import type { PictureHost } from '../uploads/picture-host.js';
import type { Plan } from '../manifest/plan-manifest.js';
import type { Projections } from '../sinks/projections.js';
import type { Ahead } from '../start/check/ahead.js';
import type { BesidePolls } from './beside-polls.js';
import type { DayMoney } from '../start/money/day-money.js';
import type { ExpiringPictures } from '../pictures/expiring-pictures.js';
import type { JournalWriter } from './journal-writer.js';
import type { PollLaw } from './poll-law.js';
import type { PictureNames } from '../pictures/picture-names.js';
import type { Queues } from './queues-of.js';
import type { ResolvedOptions } from './resolve-options.js';
import type { RunEvent } from './run-event.js';
import type { RunJobIds } from './run-job-ids.js';
import type { Slots } from './slots-of.js';
import type { ServiceReach } from '../stop/service-reach.js';
import type { Stops } from '../stop/stops.js';
import type { Taken } from '../start/take-up.js';
import type { Unreached } from '../stop/unreached.js';

/** A run that is held by this process, checked and open: what its stages share. */
export interface Run {
  /**
   * What the run was started with, checked and filled in.
   * @hidden its fields are those of `RunBatchOptions`, where they are described
   */
  readonly options: ResolvedOptions;
  readonly plan: Plan;
  readonly ahead: Ahead;
  readonly taken: Taken;
  readonly names: PictureNames;
  /** Rows of the manifest that earlier starts left unfinished: `limit` does not count them. */
  readonly pending: ReadonlySet<string>;
  readonly journal: JournalWriter;
  readonly projections: Projections;
  readonly ledger: Ledger;
  /** The ledger that runs share; absent where there is none. */
  readonly day: DayMoney | undefined;
  readonly prices: PriceBook;
  /** Which row has which job. */
  readonly jobIds: RunJobIds;
  /** How many rows may be in flight. */
  readonly slots: Slots;
  /** Which rows hold a slot. */
  readonly beside: BesidePolls;
  /** When to ask for jobs. */
  readonly pollLaw: PollLaw;
  readonly queues: Queues;
  /** Absent where no {lb_base_url} is known. */
  readonly routes: RouteEndpoint | undefined;
  /** Where pictures of this machine go; absent where they stay. */
  readonly host: PictureHost | undefined;
  readonly stops: Stops;
  /** Endpoints that the service does not know, with what it said. */
  readonly blocked: Map<string, string>;
  /** Whether requests get through to the service. */
  readonly reach: ServiceReach;
  /** Why the latest request did not reach the service. */
  readonly unreached: Unreached;
  /** What pictures had against them, formats that were not asked for and edits without any: each is told once. */
  readonly picturesTold: Set<string>;
  /** Pictures of earlier starts whose URLs die soon. */
  readonly expiring: ExpiringPictures;
  /** The folder of pictures is gone, and pictures of earlier starts were in it. */
  readonly lostPictures: boolean;
  readonly log: RunLog;
  /** What the stages tell beside what they emit. */
  readonly events: Subject<RunEvent>;
  readonly startedAt: number;
  /** Rows that are begun and have not ended. */
  readonly toDo: { rows: number };
}
