import { firstValueFrom, from, lastValueFrom, map, merge, timer } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { flow } from '../../../src/operators/flow.js';
import type { Run } from '../../batch/context/run.js';
import { arePicturesHosted } from '../../batch/purchase/host-pictures.js';
import { isFree } from '../../batch/row/left-rows.js';
import type { RowTask } from '../../batch/row/row-after.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { RowInFlight } from '../../batch/row/row-in-flight.js';
import { isRead, type Task, type TaskOf } from '../../batch/row/task.js';
import { isLost, type TaskFeed } from '../../batch/purchase/buy-rows.js';
import { inTransaction, mostText, wakeWorkers } from '../database/transaction.js';
import { addRows, itemAt } from '../table/rows.js';
import { lockLedger, refuseTaken, saveLedger } from '../table/run-ledger.js';
import { DatabasePutBack } from '../table/seats.js';
import type { RemoteRun } from './remote-run.js';
import type { NoteKeeper } from './run-note.js';

/** Rows fed in one transaction. */
const batchRows = 500;
/** The minimum number of rows that wait in the database: enough to keep workers busy, few enough to stop soon. */
const leastAhead = 1_000;

/** Rows that arrive are fed once no further one has come for this time. */
const pauseMs = 20;

/**
 * Feeds the tasks of this start to the workers, as many at a time as they need. Ends when all are fed, or the run stops.
 *
 * @param keeping `here` receives the tasks that need no worker
 */
export async function feedTasks(
  run: Run,
  remote: RemoteRun,
  tasks: AsyncIterable<Task> | Iterable<RowTask>,
  { here, note, keepNote }: NoteKeeper & { readonly here: TaskFeed },
): Promise<void> {
  const limit = 2 * run.service.slots.limit;
  // Not far ahead, if the addresses of uploaded pictures expire, or other runs need what is reserved.
  const isFar = run.pictures.host === undefined && run.money.shared === undefined;
  const ahead = isFar ? Math.max(limit, leastAhead) : limit;
  const mostRows = Math.min(batchRows, ahead);
  let batch: RowTask[] = [];
  let lost: TaskOf<'hold'>[] = [];
  let length = 0;
  const feed = async () => {
    const [rows, unknowns] = [batch, lost];
    [batch, lost] = [[], []];
    length = 0;
    while (remote.state.open >= ahead && !run.stops.isStopping) await remote.nextLook();
    if (run.stops.isStopping || rows.length + unknowns.length === 0) return;
    for (const task of rows) run.callbacks?.begin(task);
    const fedUpToRow = rows.reduce((most, { row }) => Math.max(most, row.row), note().fedUpToRow);
    if (fedUpToRow > note().fedUpToRow) await keepNote({ fedUpToRow });
    await feedBatch(remote, ++remote.batches, rows, lostMoney(run, unknowns));
  };
  let unpaid: StopCause | undefined;
  for await (const task of withPauses(tasks, run)) {
    if (task === undefined) {
      await feed();
      continue;
    }
    if (task.what !== 'send' && task.what !== 'poll') {
      if (task.what === 'hold' && isLost(run, task)) lost.push(task);
      await here.give(task);
      if (lost.length >= mostRows) await feed();
      continue;
    }
    const paid = await withReservation(run, remote, task);
    if ('exitCode' in paid) {
      unpaid = paid;
      break;
    }
    const fed = await withAddresses(run, paid);
    if (fed === undefined) continue;
    batch.push(fed);
    length += JSON.stringify(fed).length;
    if (batch.length >= mostRows || length >= mostText) await feed();
  }
  await feed();
  if (unpaid === undefined) return;
  // The cap has room for the rows before it, so workers do these first, as a local run would.
  while (remote.state.open > 0 && !run.stops.isStopping) await remote.nextLook();
  run.stops.stop(unpaid);
}

/** The tasks, with `undefined` where no row has arrived for a while: those that are there do not wait for more. */
async function* withPauses(
  tasks: AsyncIterable<Task> | Iterable<RowTask>,
  { options: { manifest, scheduler } }: Run,
): AsyncGenerator<Task | undefined> {
  if (manifest.live === undefined || !(Symbol.asyncIterator in tasks)) {
    yield* tasks;
    return;
  }
  const iterator = tasks[Symbol.asyncIterator]() as AsyncIterator<Task, undefined>;
  try {
    for (;;) {
      const next = iterator.next();
      const paused = merge(
        from(next).pipe(map(() => false)),
        timer(pauseMs, scheduler).pipe(map(() => true)),
      );
      if (await firstValueFrom(paused)) yield undefined;
      const { done, value } = await next;
      if (done === true) return;
      yield value;
    }
  } finally {
    // Not awaited: it would wait for a row that may never arrive.
    void iterator.return?.().catch(() => undefined);
  }
}

/**
 * Reserves the row's price under the cap that runs share; the database checks the run's own cap. Returns why the run stops if
 * there is no room for it.
 */
async function withReservation(run: Run, remote: RemoteRun, task: RowTask): Promise<RowTask | StopCause> {
  const { shared, prices } = run.money;
  if (shared === undefined || task.what === 'poll' || isRead(task.row)) return task;
  const price = prices.priceOf(task.row);
  if (!(await shared.reserve(task.row.id, price))) return shared.whyStop(price);
  remote.reserved.set(task.row.id, { task, price: price ?? 0 });
  return { ...task, mostPrice: price ?? 0 };
}

/**
 * Uploads pictures of this machine now, because workers cannot read them. `undefined` if one is missing: the row is not
 * sent then.
 */
async function withAddresses(run: Run, task: RowTask): Promise<RowTask | undefined> {
  const { host } = run.pictures;
  if (task.what === 'poll' || host === undefined) return task;
  const row = new RowInFlight(task);
  const pictures = { areThere: false };
  const hosting = flow<never>(function* () {
    pictures.areThere = yield* arePicturesHosted(run, row, host);
  });
  await lastValueFrom(hosting, { defaultValue: undefined });
  const { facts, request } = row.progress;
  return pictures.areThere
    ? { ...task, row: facts, ...(request !== facts.request && { wire: request }) }
    : undefined;
}

/** Money that no sum contains yet, of a row that is held here: it may be in the lost part of the journal. */
interface LostRow {
  readonly item: string;
  readonly task: TaskOf<'hold'>;
  readonly amount: MicroDollars;
}

function lostMoney({ money }: Run, tasks: readonly TaskOf<'hold'>[]): LostRow[] {
  return tasks.map((task) => ({ item: task.row.id, task, amount: money.prices.priceOf(task.row) ?? 0 }));
}

async function feedBatch(
  remote: RemoteRun,
  number: number,
  batch: readonly RowTask[],
  unknowns: readonly LostRow[],
): Promise<void> {
  const { database, run, start } = remote;
  for (const task of batch)
    if (task.what === 'poll' && task.intent !== undefined) remote.bought.set(task.row.id, task.intent);
  const rows = batch.map((task, place) => ({ item: itemAt(place), task, reserved: reservedFor(task) }));
  const held = rows.map(({ item, task }) => ({ item, amount: -(remote.held.get(task.row.id) ?? 0) }));
  await remote.ask(() =>
    inTransaction(database.pool, async (on) => {
      const ledger = await lockLedger(on, run);
      refuseTaken(ledger, start);
      if (ledger.isMoved) throw new DatabasePutBack('moved');
      // The rows were added before the connection broke, and workers may have ended them since.
      if (ledger.fed >= number) return;
      if (ledger.fed < number - 1) throw new DatabasePutBack();
      await addRows({ on, queue: database.queue, run, ledger }, rows);
      ledger.values.note(unknowns);
      for (const { item, amount } of [...held, ...unknowns]) {
        ledger.unknown += amount;
        ledger.values.add(item, amount);
      }
      await saveLedger(on, run, { ...ledger, fed: number });
      await wakeWorkers(on, run, 'rows');
    }),
  );
  for (const { row } of batch) remote.held.delete(row.id);
  remote.addOpen(rows.length);
}

/** A job that was bought earlier keeps its price. */
function reservedFor(task: RowTask): MicroDollars {
  if (task.what === 'send' || task.intent === undefined || isFree({ intent: task.intent })) return 0;
  return task.intent.price ?? 0;
}
