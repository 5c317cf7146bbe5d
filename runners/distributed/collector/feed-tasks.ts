import { pricedOf } from '../../batch/row/costs.js';
import type { Run } from '../../batch/context/run.js';
import { isRead, type Task, type TaskOf } from '../../batch/row/task.js';
import type { FedRow, FoundRow } from '../store/run-store.js';
import type { Handover } from './handover.js';
import { isKept } from './kept-ending.js';
import type { RemoteRun } from './remote-run.js';

type Remote = TaskOf<'send' | 'poll'>;

/** Rows fed in one transaction. */
const batchRows = 500;
/** The least number of rows kept waiting in the database: enough to keep workers busy, few enough to stop soon. */
const leastAhead = 1_000;

/**
 * Feeds the tasks of this start to the workers, as many as they need for the moment. Tasks that need no worker go to `here`.
 * Ends when all are fed, or the run stops.
 */
export async function feedTasks(
  run: Run,
  remote: RemoteRun,
  tasks: AsyncIterable<Task>,
  here: Handover<Task>,
): Promise<void> {
  const ahead = Math.max(2 * run.service.slots.limit, leastAhead);
  let batch: Remote[] = [];
  const feed = async () => {
    const rows = batch;
    batch = [];
    while (remote.state.open >= ahead && !run.stops.isStopping) await remote.nextLook(run);
    if (!run.stops.isStopping && rows.length > 0) await feedBatch(run, remote, rows, here);
  };
  for await (const task of tasks) {
    if (task.what === 'send' || task.what === 'poll') batch.push(task);
    else await here.give(task);
    if (batch.length >= batchRows) await feed();
  }
  await feed();
  if (run.stops.isStopping) return;
  const { store, ask } = remote.collection;
  await ask(() => store.fedAll(remote.number));
}

async function feedBatch(
  run: Run,
  remote: RemoteRun,
  batch: readonly Remote[],
  here: Handover<Task>,
): Promise<void> {
  const { store, ask } = remote.collection;
  const bought = batch.filter((task) => task.what === 'poll' && task.intent !== undefined);
  const fresh = batch.filter((task) => !bought.includes(task));
  const rows = fresh.map((task) => fedRow(run, task));
  const taken = await ask(() => store.feed(remote.number, rows));
  remote.addOpen(taken);
  const unclear = taken === rows.length ? bought : batch;
  if (unclear.length === 0) return;
  const ids = unclear.map(({ row }) => row.id);
  const found = new Map((await ask(() => store.find(remote.number, ids))).map((row) => [row.id, row]));
  const again: Remote[] = [];
  for (const task of unclear) {
    const what = await decide(run, task, found.get(task.row.id));
    if (what === 'here') await here.give(task);
    if (what === 'again') again.push(task);
  }
  await takeUp(run, remote, again, here, found);
}

/** `leave`: the row is in flight, or its ending is about to be collected. */
type Fate = 'leave' | 'again' | 'here';

async function decide(run: Run, task: Remote, found: FoundRow | undefined): Promise<Fate> {
  // A purchase that the database does not know was made before the run had a database.
  if (found === undefined) return task.what === 'poll' && task.intent !== undefined ? 'here' : 'leave';
  if (found.place !== 'ended' || found.ending === undefined) return 'leave';
  return (await isKept(run.journal.journal, found.id, found.ending)) ? 'again' : 'leave';
}

/** Takes rows up again that had ended. A job id that came late is polled, and nothing is bought again. */
async function takeUp(
  run: Run,
  { number, collection }: RemoteRun,
  tasks: readonly Remote[],
  here: Handover<Task>,
  found: ReadonlyMap<string, FoundRow>,
): Promise<void> {
  const { store, ask } = collection;
  const isPolled = (task: Remote) => task.what === 'poll' || found.get(task.row.id)?.lateJobId !== undefined;
  const polls = tasks.filter(isPolled);
  const sends = tasks.filter((task) => !isPolled(task));
  if (polls.length > 0) {
    const taken = new Set(await ask(() => store.takeUp(number, idsOf(polls), 'poll')));
    for (const task of polls) if (!taken.has(task.row.id) && task.what === 'poll') await here.give(task);
  }
  if (sends.length === 0) return;
  await ask(() => store.takeUp(number, idsOf(sends), 'buy'));
  const rows = sends.map((task) => fedRow(run, task));
  await ask(() => store.feed(number, rows));
}

function idsOf(tasks: readonly Remote[]): string[] {
  return tasks.map(({ row }) => row.id);
}

function fedRow({ money: { prices }, pictures: { names } }: Run, task: Remote): FedRow {
  const { row, attempts } = task;
  return {
    facts: row,
    price: task.what === 'poll' || isRead(row) ? 0 : prices.priceOf(pricedOf(row)),
    attempts,
    ...(task.what === 'poll' && { jobId: task.jobId }),
    collides: names.collides(row.id),
  };
}
