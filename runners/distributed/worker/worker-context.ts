import type { Subject, SchedulerLike } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { RecentJobs, type AnsweredId } from '../../../src/policy/job-ids.js';
import { learned } from '../../../src/policy/polling/learned.js';
import { adaptiveConcurrency } from '../../../src/policy/gates/adaptive-concurrency.js';
import type { PurchaseContext, SharedMoney } from '../../batch/context/purchase-context.js';
import type { RunEvent } from '../../batch/context/run-event.js';
import type { RowJobIds } from '../../batch/context/run-job-ids.js';
import { serviceOver, type RowTargets } from '../../batch/context/run-service.js';
import type { Slots } from '../../batch/context/beside-polls.js';
import { makeThumbnail } from '../../batch/artifacts/write-thumbnail.js';
import type { CalledRows } from '../../batch/callbacks/called-rows.js';
import type { Ledger } from '../../batch/ledger/ledger.js';
import { assumePrice, createPriceBook, type PriceBook } from '../../batch/ledger/price-book.js';
import type { RunLog } from '../../batch/log/open-log.js';
import type { CappedValue } from '../../batch/ledger/value-caps.js';
import { FullValues } from '../../batch/stop/full-values.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import { Stops, type StopCause } from '../../batch/stop/stops.js';
import type { PriceTerms, RunTerms } from '../table/run-terms.js';
import type { TableJournal } from './table-journal.js';
import type { WorkerGate } from './worker-gate.js';
import type { WorkerSettings } from './worker-options.js';

const openService = serviceOver(createClient);

interface Parts {
  readonly terms: RunTerms;
  readonly settings: WorkerSettings;
  /** The database's clock. */
  readonly scheduler: SchedulerLike;
  readonly journal: TableJournal;
  readonly gate: WorkerGate;
  readonly money: RowsMoney;
  readonly stops: Stops;
  readonly events: Subject<RunEvent>;
  /** Absent where the service does not call back. */
  readonly called: CalledRows | undefined;
  readonly collides: (id: string) => boolean;
}

/** What rows need of a run whose folder is elsewhere: its terms, this worker's own service, and the journal in the table. */
export function workerContext(parts: Parts): PurchaseContext {
  const { terms, settings, scheduler, journal, money, stops, events, called, collides } = parts;
  const { random, disk, saveFrom, artifacts, apiKey, notify } = settings;
  const { download, maxPriceDriftPercent, onUnknown, retries, timeoutMs, runsyncTimeoutMs } = terms;
  const { executionTimeoutsMs } = terms;
  const log: RunLog = {
    write: (level, { err }, message) => {
      const why = (err as { message?: string } | undefined)?.message;
      if (level === 'fatal') notify({ type: 'fault', message: why ?? message });
    },
    close: () => Promise.resolve(),
  };
  return {
    options: {
      ...{
        download,
        onUnknown,
        retries,
        timeoutMs,
        runsyncTimeoutMs,
        executionTimeoutsMs,
        random,
        disk,
        saveFrom,
        scheduler,
      },
      ...{ deliver: undefined, makeThumbnail, downloads: 4, out: artifacts ?? '' },
      ...(maxPriceDriftPercent !== undefined && { maxPriceDriftPercent }),
      secrets: apiKey === undefined ? [] : [apiKey],
    },
    journal,
    mustHold: () => false,
    projections: { write: () => Promise.resolve() },
    money: { ledger: money.ledger, shared: money, full: new FullValues(), prices: money.prices },
    service: serviceOf(parts, log),
    callbacks: called,
    pictures: {
      ...{ names: { collides }, areSaved: artifacts !== undefined, host: undefined },
      ...{ expiring: { saved: () => undefined }, warned: new Set() },
    },
    ...{ stops, events, log, whyHalted: () => undefined, toDo: { rows: 0 } },
  };
}

function serviceOf(parts: Parts, log: RunLog) {
  const { terms, settings, scheduler, journal, gate, stops, events, called } = parts;
  const { identity, retries, timeoutMs, runsyncTimeoutMs, executionTimeoutsMs, pollCostMs } = terms;
  const { endpoints, hasRoutes, concurrency, lowPriority = false } = terms;
  const { baseUrl, lbBaseUrl } = identity;
  const { transport, random, apiKey, slots } = settings;
  const places: RowTargets = {
    ...{ endpoints, hasRoutes, jobIds: jobIdsIn(journal) },
    slots:
      concurrency === 'auto'
        ? adaptiveConcurrency({ scheduler, max: slots })
        : ({ limit: slots } satisfies Slots),
    hasSeveralEndpoints: endpoints.length + (hasRoutes ? 1 : 0) > 1,
  };
  const options = {
    ...{ transport, scheduler, random, gate, retries, timeoutMs, runsyncTimeoutMs, executionTimeoutsMs },
    lowPriority,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== '' && { baseUrl }),
    ...(lbBaseUrl !== '' && { lbBaseUrl }),
  };
  const schedule = learned({ msPerCall: pollCostMs }, scheduler);
  return openService(options, places, { schedule: called?.poll(schedule) ?? schedule, log, events, stops });
}

/** Rows of this worker whose job is not in the table yet are among so many. */
const mostRecent = 10_000;

function jobIdsIn(journal: TableJournal): RowJobIds {
  const recent = new RecentJobs(mostRecent);
  return {
    claim: (answered: AnsweredId) => {
      const owner = recent.ownerOf(answered);
      recent.keep({ ...answered, key: owner ?? answered.key });
      return owner ?? journal.claimJob(answered);
    },
    keep: (job) => {
      recent.keep(job);
      // A job that the manifest names: no POST of another worker is answered with its id either.
      void journal.claimJob(job).catch(() => undefined);
    },
  };
}

/** The money of the rows that a worker has. What a row has reserved lies in the database, with the row. */
export class RowsMoney implements SharedMoney {
  readonly prices: PriceBook;
  private readonly reserved = new Map<string, MicroDollars>();
  /** Rows that do not fit under the cap of a value any more. */
  private readonly full = new Map<string, CappedValue>();

  constructor(
    prices: PriceTerms,
    private readonly cap: MicroDollars | undefined,
    private readonly journal: () => TableJournal,
  ) {
    this.prices = bookOf(prices);
  }

  /** A row was taken with so much reserved. */
  take(id: string, reserved: MicroDollars): void {
    this.reserved.set(id, reserved);
  }

  async reserve(id: string, price: MicroDollars | null): Promise<boolean> {
    const reserved = this.reserved.get(id) ?? 0;
    if ((price ?? 0) <= reserved && this.reserved.has(id)) return true;
    const granted = await this.journal().grant(id, { reserved, price });
    if (granted === true) this.reserved.set(id, price ?? 0);
    if (typeof granted === 'object') this.full.set(id, granted);
    return granted === true;
  }

  whyFull(id: string): CappedValue | undefined {
    return this.full.get(id);
  }

  /** Whether the row is left for a value that is full; asked once, when it leaves. */
  isLeft(id: string): boolean {
    return this.full.delete(id);
  }

  /** The database has stopped the run already, with all of its money in the message. */
  whyStop(): ReturnType<SharedMoney['whyStop']> {
    return stopCauses.capReached(this.ledger.snapshot());
  }

  /** The records book what a purchase has cost. */
  get ledger(): Ledger {
    const over = (id: string): void => void this.reserved.delete(id);
    const { cap } = this;
    return {
      ...{ reserve: () => true, settle: over, keepUnknown: over },
      ...{ release: () => undefined, hold: () => undefined },
      snapshot: () => ({
        reserved: 0,
        spent: 0,
        unknown: 0,
        drift: 0,
        unpriced: 0,
        ...(cap !== undefined && { cap }),
      }),
    };
  }
}

function bookOf({ endpoints, assumed, ...list }: PriceTerms): PriceBook {
  const book = createPriceBook({ ...list, endpoints: new Map(endpoints) });
  return assumed === undefined ? book : assumePrice(book, assumed);
}

interface Stopping {
  /** What a cause that arises here leads to. */
  readonly judge: (cause: StopCause) => StopCause;
  readonly stopping: () => void;
}

/** Stops of a worker's part in a run: causes that arise here are judged first, orders are obeyed as they are. */
export class WorkerStops extends Stops {
  constructor(private readonly parts: Stopping) {
    super();
  }

  override stop(cause: StopCause): boolean {
    return this.order(this.parts.judge(cause));
  }

  order(cause: StopCause): boolean {
    this.parts.stopping();
    return super.stop(cause);
  }
}
