import { filter, finalize, from, ignoreElements, merge, Observable, Subject, type Subscription } from 'rxjs';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Run } from '../../batch/context/run.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import { buyRows } from '../../batch/purchase/buy-rows.js';
import type { RunStages } from '../../batch/run-batch.js';
import type { PaidRow } from '../../batch/row/task.js';
import type { Task } from '../../batch/row/task.js';
import type { PriceTerms, RunTerms } from '../records/run-terms.js';
import { collectEndings } from './collect-endings.js';
import { feedTasks } from './feed-tasks.js';
import { Handover } from './handover.js';
import { RemoteRun, type Collection } from './remote-run.js';
import { watchWorkers } from './watch-workers.js';

/**
 * Buys rows by workers on other machines: tasks go into the database, endings come out of it. Tasks that need no worker are
 * done here, as in a run without a database.
 */
export function workElsewhere(collection: Collection): RunStages['buyRows'] {
  return (run, tasks) =>
    new Observable<PaidRow>((subscriber) => {
      const settled = new Subject<PaidRow>();
      const here = new Handover<Task>();
      const elsewhere = from(collect(run, tasks, collection, here, settled)).pipe(
        ignoreElements(),
        finalize(() => settled.complete()),
      );
      return merge(settled, buyRows(run, here), elsewhere).subscribe(subscriber);
    });
}

async function collect(
  run: Run,
  tasks: AsyncIterable<Task>,
  collection: Collection,
  here: Handover<Task>,
  settled: Subject<PaidRow>,
): Promise<void> {
  const { store, ask, rate, apart, note, keepNote } = collection;
  const { key } = note();
  const opened = await ask(() => store.openRun(key, termsOf(run, rate, apart)));
  if (!note().isBegun || !note().isOpen) await keepNote({ isBegun: true, isOpen: true });
  const remote = new RemoteRun(opened.run, collection, await ask(() => store.stateOf(opened.run)));
  const stopping = forwardStops(run, remote);
  const watching = watchWorkers(run, remote);
  try {
    await Promise.all([
      feedTasks(run, remote, tasks, here).finally(() => here.close()),
      collectEndings(run, remote, (row) => settled.next(row)),
    ]);
    const { fedAll, open, inFlight, saving } = remote.state;
    if (fedAll && open + inFlight + saving === 0) await keepNote({ isOpen: false });
  } finally {
    await watching.end();
    await stopping.end();
  }
}

/** Writes a stop of this process into the database, so that the workers stop too. */
function forwardStops(run: Run, remote: RemoteRun): { end(): Promise<void> } {
  const { store } = remote.collection;
  let forwarding: Promise<unknown> = Promise.resolve();
  const listening: Subscription = run.stops.leaving$
    .pipe(filter((leaving) => leaving !== undefined))
    .subscribe((leaving) => {
      const { end } = run.stops;
      if (end === undefined) return;
      const forward = () => store.stopRun(remote.number, { ...end, leaves: [...leaving] });
      forwarding = forwarding.then(forward).catch((error: unknown) => {
        const message = `The workers could not be told to stop: ${(error as Error).message}`;
        run.events.next({ type: 'warning', code: 'database', message });
      });
    });
  return {
    end: async () => {
      listening.unsubscribe();
      await forwarding;
    },
  };
}

/** The terms of this start for its workers. Money that the database does not count is taken off the cap. */
function termsOf(run: Run, rate: number | undefined, apart: number): RunTerms {
  const { options, plan, ahead, service } = run;
  const { timeoutMs, runsyncTimeoutMs, retries, onUnknown, pollCostMs, download } = options;
  const { maxPriceDriftPercent } = options;
  const { cap } = ahead;
  return {
    ...{
      identity: neededHosts(run),
      concurrency: service.slots.limit,
      timeoutMs,
      runsyncTimeoutMs,
      retries,
      onUnknown,
      pollCostMs,
      download,
    },
    ...(rate !== undefined && { rate }),
    ...(cap && { cap: Math.max(toMicroDollars(cap.usd) - apart, 0) }),
    ...(maxPriceDriftPercent !== undefined && { maxPriceDriftPercent }),
    prices: priceTerms(run),
    endpoints: ahead.endpoints,
    hasRoutes: plan.byKind.route > 0,
  };
}

/** Only the hosts that rows go to: a worker needs no other. */
function neededHosts({ options: { identity }, plan: { byKind } }: Run): RunIdentity {
  const { baseUrl, lbBaseUrl, local } = identity;
  return {
    baseUrl: byKind.edit + byKind.job > 0 ? baseUrl : '',
    lbBaseUrl: byKind.route > 0 ? lbBaseUrl : '',
    local,
  };
}

function priceTerms({ money: { prices } }: Run): PriceTerms {
  const { book, assumed } = prices.table();
  return { ...book, endpoints: [...book.endpoints], ...(assumed !== undefined && { assumed }) };
}
