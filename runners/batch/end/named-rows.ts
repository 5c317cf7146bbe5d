import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Run } from '../context/run.js';
import type { NamedJob } from '../context/callback-port.js';
import { appendAll, type Journal, type RowRecords } from '../journal/journal.js';
import { goingOnWith, leftTask } from '../row/left-rows.js';
import type { RowRecord } from '../row/record-head.js';
import { afterRecord } from '../row/row-after.js';
import type { Task } from '../row/task.js';
import { freedRecord, heldByRow, polled } from '../settle/settlement-records.js';

/**
 * The tasks to poll the jobs of held rows, if callbacks have named these jobs. A stopping run leaves them to the next start.
 * Call it while no row is in flight.
 */
export async function namedTasks(run: Run): Promise<readonly Task[]> {
  return run.stops.isStopping ? [] : continueNamedRows(run);
}

/**
 * Continues held rows whose job a callback has named, as `settle --job` does: their lines are removed from the files. Also
 * continues such rows that were to be sent again. A row that was bought again since stays as it is. Returns the tasks of the
 * rows that were held.
 */
export async function continueNamedRows(run: Run): Promise<readonly Task[]> {
  const { callbacks, journal, projections } = run;
  const { records } = journal;
  const jobs = new Map<string, NamedJob>();
  const sent = new Map<string, number>();
  for (const [id, job] of callbacks?.named ?? [])
    if (job.again !== undefined) {
      if (await goesOnWithSent(run, id, job)) sent.set(id, job.attempt);
    } else if (job.isTaken !== true && journal.tally.statusOf(id) === 'unknown') jobs.set(id, job);
  await freeHeld(run, sent);
  const tasks: Task[] = [];
  for (const [id, row] of await rowsOf(journal.journal, jobs)) {
    const task = await goOnWithHeld(run, row, jobs.get(id)?.jobId ?? '');
    callbacks?.taken(id);
    if (task !== undefined) tasks.push(task);
  }
  if (journal.records > records) await projections.catchUp();
  return tasks;
}

async function goOnWithHeld(run: Run, row: RowRecords, jobId: string): Promise<Task | undefined> {
  const { events, journal, options, toDo } = run;
  const { records } = polled(row, jobId, options.scheduler.now());
  const { ended } = journal.tally.thisStart;
  await appendAll(journal, records);
  toDo.rows += 1;
  const isOfThisStart = journal.tally.thisStart.ended < ended;
  events.next({ type: 'reopened', id: row.id, row: row.intent?.row ?? 0, isOfThisStart });
  return leftTask((records as readonly RowRecord[]).reduce(afterRecord, row));
}

/** Continues a row that was to be sent again with its earlier job. Returns false if it was sent again before that. */
async function goesOnWithSent({ journal, options }: Run, id: string, job: NamedJob): Promise<boolean> {
  const { jobId, again, isTaken } = job;
  if (again === undefined || isTaken === true) return again !== undefined;
  if (journal.tally.statusOf(id) !== 'open') return false;
  await appendAll(journal, goingOnWith(again, { jobId, at: options.scheduler.now() }).records);
  return true;
}

/**
 * Frees the money that is held for requests of rows, given by their attempts: their jobs are known now. Returns how much it was
 * for each row, in micro-dollars.
 */
export async function freeHeld(
  run: Run,
  attempts: ReadonlyMap<string, number>,
): Promise<ReadonlyMap<string, MicroDollars>> {
  const { journal, options } = run;
  const amounts = new Map<string, MicroDollars>();
  for (const [id, rowHeld] of await heldByRow(journal.journal, attempts.keys())) {
    const held = rowHeld.get(attempts.get(id) ?? 0);
    if (held === undefined || held.freed !== undefined) continue;
    const freed = freedRecord(held, { at: options.scheduler.now(), cost: undefined });
    await appendAll(journal, [freed]);
    amounts.set(id, freed.price ?? 0);
  }
  return amounts;
}

/** The records of these rows in the journal, including those of this start. */
export async function rowsOf(
  journal: Pick<Journal, 'find' | 'records' | 'recovered'>,
  ids: { readonly size: number; has(id: string): boolean; keys(): Iterable<string> },
): Promise<ReadonlyMap<string, RowRecords>> {
  const rows = new Map<string, RowRecords>();
  if (ids.size === 0) return rows;
  for (const id of ids.keys()) rows.set(id, (await journal.find(id)) ?? { id, status: 'open', attempts: 0 });
  for await (const record of journal.records(journal.recovered.records)) {
    if (!('id' in record)) continue;
    const row = rows.get(record.id);
    if (row !== undefined) rows.set(record.id, afterRecord(row, record));
  }
  return rows;
}
