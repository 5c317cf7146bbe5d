import { randomUUID } from 'node:crypto';
import {
  defer,
  finalize,
  from,
  ignoreElements,
  merge,
  type Observable,
  ReplaySubject,
  Subject,
  type Subscription,
} from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { buyRows, TaskFeed } from '../../batch/purchase/buy-rows.js';
import { stopForFault, troubleOf } from '../../batch/stop/exit-of.js';
import { costByInForce } from '../../batch/row/totals.js';
import { takenByValue } from '../../batch/row/value-costs.js';
import type { PaidRow, Task } from '../../batch/row/task.js';
import { keepSecret } from '../callbacks/callbacks-table.js';
import { BrokenDatabase } from '../database/database-error.js';
import { listen } from '../database/listen.js';
import { recordChannel } from '../database/transaction.js';
import { recallRun, withdrawRows } from '../table/recall-run.js';
import { RunTaken } from '../table/run-ledger.js';
import { readState } from '../table/run-state.js';
import type { PriceTerms, RunTerms } from '../table/run-terms.js';
import { beginStart, makeRun, stopStart, wasMoved } from '../table/runs.js';
import { DatabasePutBack } from '../table/seats.js';
import { noteTrouble } from '../table/worker-record.js';
import { feedTasks } from './feed-tasks.js';
import { followRun } from './follow-run.js';
import { foundTasks, nameCalled, nameJobs, tasksToReserve } from './name-jobs.js';
import type { Collector } from './open-collector.js';
import { RemoteRun, type Ask } from './remote-run.js';
import { watchWorkers } from './watch-workers.js';

/** The parts that the collector of one start needs. */
export interface Collection extends Collector {
  readonly ask: Ask;
  readonly terms: Pick<RunTerms, 'rate' | 'concurrency'>;
  readonly workerCommand: string | undefined;
  /** Called with the number of the run in the database. */
  readonly begun: (run: number) => void;
}

/**
 * Lets workers on other machines buy the rows: tasks go into the database, and records come out of it. Tasks that need no
 * worker are done here, as in a run without a database.
 */
export function workElsewhere(
  run: Run,
  tasks: AsyncIterable<Task>,
  collection: Collection,
): Observable<PaidRow> {
  return defer(() => {
    const settled = new Subject<PaidRow>();
    const here = new TaskFeed();
    const elsewhere = from(collect(run, tasks, collection, here, settled)).pipe(
      ignoreElements(),
      finalize(() => settled.complete()),
    );
    return merge(settled, buyRows(run, here), elsewhere);
  });
}

async function collect(
  run: Run,
  tasks: AsyncIterable<Task>,
  collection: Collection,
  here: TaskFeed,
  settled: Subject<PaidRow>,
): Promise<void> {
  const { ask, note, keepNote, database } = collection;
  const number = await ask(() => makeRun(database, note().key));
  // Written before anything is fed: if this start dies here, the next one must know that workers may have rows.
  await keepNote({ isBegun: true, isOpen: true });
  collection.begun(number);
  const { callbacks } = run;
  if (callbacks !== undefined) await ask(() => keepSecret(database.pool, number, callbacks.address));
  const { spent, unknown } = run.journal.tally.totals();
  const named = await ask(() => nameJobs(database, number, collection.journal, note().named));
  await keepNote({ named });
  // A start of a copy of this folder may have created the run already.
  const start = collection.start > 0 ? collection.start : await ask(() => recallRun(database, number));
  const taken = takenByValue(run.journal.tally.kept, (costs) => costs.taken - costs.reserved);
  const before = { spent: spent.reported + spent.estimated, unknown, taken, collected: note().collected };
  const terms = termsOf(run, collection.terms);
  await ask(() => beginStart(database, { run: number, start }, terms, before));
  const state = await ask(() => readState(database, number));
  const columns = Object.entries(terms.capsByUsd ?? {});
  const remote = new RemoteRun(database, number, start, ask, state, run);
  const left = new ReplaySubject<void>(1);
  const woken = () => remote.woken.next();
  const listening = listen(database.pool, recordChannel, { woken, left, scheduler: run.options.scheduler });
  const stopping = forwardStops(run, remote);
  const watching = watchWorkers(run, remote, collection.workerCommand);
  const save = (row: PaidRow) => settled.next(row);
  const work = async (given: Parameters<typeof feedTasks>[2]) => {
    let isFed = false;
    const feeding = feedTasks(run, remote, given, { here, note, keepNote })
      .then(() => {
        isFed = true;
        woken();
      })
      .finally(() => here.close());
    await Promise.all([
      feeding,
      followRun({ run, remote, note, keepNote, save, columns, isFed: () => isFed }),
    ]);
    await nameCalled(run, remote);
  };
  try {
    await work(tasks);
    const goingOn = async () => [...(await foundTasks(run, remote)), ...(await tasksToReserve(run, remote))];
    for (let more = await goingOn(); more.length > 0; more = await goingOn()) await work(more);
    const left = await ask(() => withdrawRows(database, number, start));
    await keepNote({ isOpen: left > 0 || (await mayLackRows(run, remote)), named: run.journal.records });
  } catch (error) {
    await stopWorkers(run, remote, error);
    throw error;
  } finally {
    await watching.end();
    await stopping.end();
    left.next();
    await listening;
  }
}

/** Whether the next start has to ask before it sends the rows that this one leaves: the database may have forgotten their purchases. */
async function mayLackRows({ stops }: Run, { ask, database, run }: RemoteRun): Promise<boolean> {
  return stops.isStopping && ask(() => wasMoved(database, run));
}

/** Otherwise workers would buy all rows that are fed. If another start has taken over the run, its workers go on. */
async function stopWorkers({ stops }: Run, { ask, database, run }: RemoteRun, error: unknown): Promise<void> {
  if (error instanceof RunTaken) return;
  stopForFault(stops, error);
  if (!(error instanceof DatabasePutBack)) return;
  // The next start reads it, as it reads what a worker has noticed.
  const trouble = troubleOf(error);
  await ask(() => noteTrouble(database, { run, worker: randomUUID() }, trouble)).catch(() => undefined);
}

/** Writes a stop of this process into the database, so that the workers stop too. Warns once if that is not possible. */
function forwardStops(run: Run, remote: RemoteRun): { end(): Promise<void> } {
  let forwarding: Promise<unknown> = Promise.resolve();
  let isWarned = false;
  const listening: Subscription = run.stops.stopping$.subscribe((leaving) => {
    const { end } = run.stops;
    if (end === undefined) return;
    const cause = { ...end, leaves: [...leaving] };
    forwarding = forwarding
      .then(() => (isWarned ? undefined : remote.ask(() => stopStart(remote.database, remote, cause))))
      .catch((error: unknown) => {
        isWarned = true;
        // No worker would stop, or end the run: this process would wait for ever.
        if (error instanceof BrokenDatabase) remote.fault = error;
        run.events.next({ type: 'warning', code: 'database', message: goOn(error, remote) });
      });
  });
  return {
    end: async () => {
      listening.unsubscribe();
      await forwarding;
    },
  };
}

function goOn(error: unknown, { state: { open } }: RemoteRun): string {
  const rows = open === 0 ? 'rows' : open === 1 ? 'a row' : `up to ${open} rows`;
  return `The workers could not be asked to stop, and may still buy ${rows} that ${open === 1 ? 'is' : 'are'} fed: stop them yourself (SIGTERM). The next start copies what they buy. ${(error as Error).message}`;
}

function termsOf(run: Run, given: Collection['terms']): RunTerms {
  const { options, plan, ahead } = run;
  const { paths } = run.pictures;
  const { unagreed, maxDriftPercent: maxPriceDriftPercent } = run.money;
  const { timeoutMs, runsyncTimeoutMs, executionTimeoutsMs, retries, onUnknown, pollCostMs, download } =
    options;
  const { lowPriority = false } = options;
  const webhookUrl = run.callbacks?.address.url;
  const { cap } = ahead;
  const capsByUsd = capsOf(run);
  return {
    ...given,
    identity: neededHosts(run),
    timeoutMs,
    runsyncTimeoutMs,
    executionTimeoutsMs,
    retries,
    pollCostMs,
    download,
    // A request that is sent again is reserved in the ledger that runs share first, by this process.
    onUnknown: run.money.shared === undefined ? onUnknown : 'hold',
    ...(lowPriority && { lowPriority }),
    ...(webhookUrl !== undefined && { webhookUrl }),
    ...(paths.length > 0 && { saveOutput: paths.map(({ text }) => text) }),
    ...(cap && { cap: toMicroDollars(cap.usd) }),
    ...(capsByUsd && { capsByUsd }),
    ...(maxPriceDriftPercent !== undefined && { maxPriceDriftPercent }),
    ...(unagreed && { unagreed }),
    prices: priceTerms(run),
    endpoints: ahead.endpoints,
    hasRoutes: plan.byKind.route > 0,
  };
}

function capsOf({ options, journal: { journal } }: Run): Readonly<Record<string, number>> | undefined {
  const { capsUsd } = costByInForce(options, journal.recovered.costBy);
  return Object.keys(capsUsd).length > 0 ? capsUsd : undefined;
}

/** Only the hosts that this start's rows need, and jobs of earlier starts that are polled; rows that arrive may need each of them. */
function neededHosts({ options: { identity, manifest }, plan: { byKind }, journal }: Run): RunIdentity {
  if (manifest.live !== undefined) return identity;
  const { baseUrl, lbBaseUrl, local } = identity;
  const { rows } = journal.tally.totals();
  const hasJobs = polled.some((status) => (rows.get(status) ?? 0) > 0);
  return {
    baseUrl: byKind.edit + byKind.job > 0 || hasJobs ? baseUrl : '',
    lbBaseUrl: byKind.route > 0 ? lbBaseUrl : '',
    local,
  };
}

/** Rows whose jobs a start may poll, whatever rows its manifest has. */
const polled = ['accepted', 'deadline', 'expired'] as const;

function priceTerms({ money: { prices } }: Run): PriceTerms {
  const { book, assumed } = prices.table();
  return { ...book, endpoints: [...book.endpoints], ...(assumed !== undefined && { assumed }) };
}
