import type { Subject, SchedulerLike } from 'rxjs';
import { createLateClient } from '../../../src/endpoints/late-client.js';
import { pollLearned } from '../../../src/policy/polling/learned.js';
import { adaptiveConcurrency } from '../../../src/policy/gates/adaptive-concurrency.js';
import type { PurchaseContext, RunMoney } from '../../batch/context/purchase-context.js';
import type { RunEvent } from '../../batch/context/run-event.js';
import type { RowJobIds } from '../../batch/context/run-job-ids.js';
import { serviceOver, type RowTargets } from '../../batch/context/run-service.js';
import type { Slots } from '../../batch/context/row-slots.js';
import { outputPaths } from '../../batch/artifacts/output-path.js';
import { makeThumbnail } from '../../batch/artifacts/write-thumbnail.js';
import type { Ledger } from '../../batch/ledger/ledger.js';
import { assumePrice, createPriceBook } from '../../batch/ledger/price-book.js';
import type { RunLog } from '../../batch/log/open-log.js';
import type { CappedValue } from '../../batch/ledger/value-caps.js';
import { nothingNoted } from '../../batch/pictures/note-picture.js';
import { FullValues } from '../../batch/stop/skipped-rows.js';
import { stopCauses } from '../../batch/stop/stop-causes.js';
import { Stops, type StopCause } from '../../batch/stop/stops.js';
import type { ServedCallbacks } from '../callbacks/served-callbacks.js';
import type { RunTerms } from '../table/run-terms.js';
import type { TableJournal } from './table-journal.js';
import type { WorkerGate } from './worker-gate.js';
import type { WorkerSettings } from './worker-options.js';

const openService = serviceOver(createLateClient);

interface Parts {
  readonly terms: RunTerms;
  readonly settings: WorkerSettings;
  /** The database's clock. */
  readonly scheduler: SchedulerLike;
  readonly journal: TableJournal;
  readonly gate: WorkerGate;
  readonly stops: Stops;
  readonly events: Subject<RunEvent>;
  /** `undefined` if the service does not call back. */
  readonly callbacks: ServedCallbacks | undefined;
}

/**
 * The context for rows of a run whose folder is on another machine: the run's terms, this worker's service, and the journal in
 * the table.
 */
export function workerContext(parts: Parts): PurchaseContext {
  const { terms, settings, scheduler, journal, stops, events, callbacks } = parts;
  const { random, disk, saveFrom, artifacts, apiKey, notify } = settings;
  let shown = '';
  const log: RunLog = {
    write: (level, { err }, message) => {
      const why = (err as { message?: string } | undefined)?.message ?? message;
      // One fault may be that of many rows.
      if (level === 'fatal' && why !== shown) notify({ type: 'fault', message: why });
      if (level === 'fatal') shown = why;
    },
    close: () => Promise.resolve(),
  };
  return {
    options: {
      ...terms,
      random,
      disk,
      saveFrom,
      scheduler,
      deliver: undefined,
      makeThumbnail,
      downloads: 4,
      out: artifacts ?? '',
      secrets: apiKey === undefined ? [] : [apiKey],
    },
    journal,
    mustHold: () => false,
    projections: { write: () => Promise.resolve() },
    money: moneyOf(parts),
    service: serviceOf(parts, log),
    callbacks,
    pictures: {
      names: { collides: () => false },
      areSaved: artifacts !== undefined,
      host: undefined,
      paths: outputPaths(terms.saveOutput ?? []),
      expiring: { saved: () => undefined },
      ...nothingNoted(),
    },
    stops,
    events,
    log,
    toDo: { rows: 0 },
  };
}

function serviceOf(parts: Parts, log: RunLog) {
  const { terms, settings, scheduler, journal, gate, stops, events, callbacks } = parts;
  const { identity, endpoints, hasRoutes, concurrency, pollCostMs } = terms;
  const { baseUrl, lbBaseUrl } = identity;
  const { transport, random, apiKey, slots } = settings;
  const places: RowTargets = {
    endpoints,
    hasRoutes,
    jobIds: jobIdsIn(journal),
    slots:
      concurrency === 'auto'
        ? adaptiveConcurrency({ scheduler, max: slots })
        : ({ limit: slots } satisfies Slots),
    hasSeveralEndpoints: endpoints.length + (hasRoutes ? 1 : 0) > 1,
  };
  const options = {
    ...terms,
    transport,
    scheduler,
    random,
    gate,
    lowPriority: terms.lowPriority ?? false,
    ...(apiKey !== undefined && { apiKey }),
    ...(baseUrl !== '' && { baseUrl }),
    ...(lbBaseUrl !== '' && { lbBaseUrl }),
  };
  const schedule = pollLearned({ msPerCall: pollCostMs }, scheduler);
  return openService(options, places, {
    schedule: callbacks?.called.receiver.poll(schedule) ?? schedule,
    log,
    events,
    stops,
  });
}

/** The database decides what fits under the caps: the reservation of a row is stored with the row. */
function moneyOf({ terms, journal }: Parts): RunMoney {
  const { prices, cap, unagreed, maxPriceDriftPercent } = terms;
  const { endpoints, assumed, ...list } = prices;
  const book = createPriceBook({ ...list, endpoints: new Map(endpoints) });
  const full = new Map<string, CappedValue>();
  return {
    // What all workers have spent is added up in the shared ledger.
    unagreed: unagreed && { ...unagreed, since: 0, spent: 0 },
    maxDriftPercent: maxPriceDriftPercent,
    ledger: ledgerElsewhere,
    full: new FullValues(),
    prices: assumed === undefined ? book : assumePrice(book, assumed),
    shared: {
      reserve: async (id, price) => {
        const granted = await journal.reserve(id, price);
        if (typeof granted === 'object') full.set(id, granted);
        return granted === true;
      },
      whyFull: (id) => full.get(id),
      // The database has already stopped the run, with its money in the message.
      whyStop: () => stopCauses.capReached({ ...ledgerElsewhere.snapshot(), cap }),
    },
  };
}

/** The database adds up the money, and decides what fits. */
const ledgerElsewhere: Ledger = {
  isDecidedElsewhere: true,
  reserve: () => true,
  settle: () => undefined,
  release: () => undefined,
  keepUnknown: () => undefined,
  hold: () => undefined,
  snapshot: () => ({ reserved: 0, spent: 0, unknown: 0, drift: 0, unpriced: 0 }),
};

function jobIdsIn(journal: TableJournal): RowJobIds {
  return {
    claim: (answered) => journal.claimJob(answered),
    // Claims a job that the manifest names, so that an answer with its id to a POST is noticed.
    keep: (job) => void journal.claimJob(job).catch(() => undefined),
  };
}

/** Stops a worker's part of a run. Causes that arise at this worker are judged first; orders are obeyed directly. */
export class WorkerStops extends Stops {
  /** @param judge decides what follows from a cause that arises at this worker */
  constructor(
    private readonly judge: (cause: StopCause) => StopCause,
    private readonly stopping: () => void,
  ) {
    super();
  }

  override stop(cause: StopCause): boolean {
    return this.order(this.judge(cause));
  }

  order(cause: StopCause): boolean {
    this.stopping();
    return super.stop(cause);
  }
}
