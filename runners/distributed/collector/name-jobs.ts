import { lastValueFrom } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import { warnOfDouble } from '../../batch/end/end-row.js';
import { freeHeld, rowsOf } from '../../batch/end/named-rows.js';
import type { JobOfPost } from '../../batch/context/callback-port.js';
import type { Journal, RowRecords } from '../../batch/journal/journal.js';
import { retriesUnknown } from '../../batch/row/decide-row.js';
import { goingOnWith } from '../../batch/row/left-rows.js';
import { reopenRecord } from '../../batch/row/records-of.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import type { RowTask } from '../../batch/row/task.js';
import { dropStored, storedPages } from '../callbacks/callbacks-table.js';
import { inTransaction } from '../database/transaction.js';
import { claimJob, claimJobs, type RowJob } from '../table/claim-jobs.js';
import type { RunDatabase } from '../table/run-ledger.js';
import type { RemoteRun } from './remote-run.js';

/** Jobs written in one transaction. */
const batchJobs = 1_000;

/**
 * Writes the jobs of a journal to the database, from its record number `after` on, to recognise an answer that names the job of
 * another request. Jobs of workers are known already; this adds those of starts without the database.
 *
 * @returns how many records of the journal are done
 */
export async function nameJobs(
  database: RunDatabase,
  run: number,
  journal: Pick<Journal, 'records' | 'find'>,
  after: number,
): Promise<number> {
  /** The endpoints of the rows that are read. */
  const endpoints = new Map<string, string>();
  const endpointOf = async (record: RowRecord): Promise<string> => {
    if ('endpoint' in record && record.endpoint !== undefined) return record.endpoint;
    return endpoints.get(record.id) ?? (await journal.find(record.id))?.intent?.endpoint ?? '';
  };
  let done = after;
  let jobs: RowJob[] = [];
  const write = async () => {
    const batch = jobs;
    jobs = [];
    await inTransaction(database.pool, (on) => claimJobs(on, run, batch));
  };
  for await (const record of journal.records(after)) {
    done++;
    if ('jobId' in record && record.jobId !== undefined)
      jobs.push({ key: record.id, endpoint: await endpointOf(record), jobId: record.jobId });
    if (record.k === 'intent') endpoints.set(record.id, record.endpoint);
    if (record.k === 'outcome') endpoints.delete(record.id);
    if (jobs.length >= batchJobs) await write();
  }
  await write();
  return done;
}

/**
 * Handles the callbacks that no worker has handled, once no worker has a row. A callback that names the job of a held row stays
 * in the database until that job is polled. Others are deleted if no row is left that they could be about.
 */
export async function nameCalled(
  { callbacks, journal, stops, toDo }: Run,
  { ask, database, run }: RemoteRun,
): Promise<void> {
  if (callbacks === undefined) return;
  const { pool } = database;
  const isOver = ({ row }: JobOfPost) => callbacks.named.get(row)?.isTaken ?? !callbacks.named.has(row);
  for await (const stored of storedPages(pool, run, ask)) {
    callbacks.useJobIds({ claim: (job) => ask(() => claimJob(pool, run, job)) });
    callbacks.endWork(await rowsOf(journal.journal, new Set(stored.map(({ row }) => row))));
    for (const callback of stored)
      await lastValueFrom(callbacks.orphan(callback), { defaultValue: undefined });
    if (stops.isStopping || toDo.rows > 0) continue;
    const over = stored.filter(isOver).map(({ digest }) => digest);
    await ask(() => dropStored(pool, run, over));
  }
}

/** Tasks to poll the jobs that callbacks named for rows that were to be sent again. A stopping run leaves them to the next start. */
export async function foundTasks(run: Run, { held }: RemoteRun): Promise<RowTask[]> {
  const { callbacks, journal, money, options, projections, stops } = run;
  if (callbacks === undefined || stops.isStopping) return [];
  const tasks: RowTask[] = [];
  const attempts = new Map<string, number>();
  const { records: before } = journal;
  for (const { again, jobId } of callbacks.takeLeft()) {
    const { records, task } = goingOnWith(again, { jobId, at: options.scheduler.now() });
    for (const record of records) await lastValueFrom(journal.append(record));
    // The refused request's reservation is used for the job.
    money.ledger.release(again.id);
    money.ledger.reserve(again.id, again.intent.price, again.intent);
    attempts.set(again.id, again.attempts);
    // What this start has sent counts towards what was agreed to for prices in no list.
    const isOfThisStart = again.attempts > journal.journal.recovered.attemptsOf(again.id);
    tasks.push({ ...task, isOfThisStart });
  }
  for (const [id, amount] of await freeHeld(run, attempts)) held.set(id, amount);
  if (journal.records > before) await projections.catchUp();
  return tasks;
}

/**
 * Tasks for rows that workers have left because only the collector can reserve their prices in the ledger that runs share:
 * their prices have risen, or they are sent again after a request that may have been accepted. What is reserved for rows that
 * were not sent is released. Call it when no worker has a row.
 */
export async function tasksToReserve(run: Run, { reserved, doubles }: RemoteRun): Promise<RowTask[]> {
  const { callbacks, money, options, stops, journal, projections } = run;
  const fed = new Map(reserved);
  reserved.clear();
  const tasks: RowTask[] = [];
  const { records } = journal;
  for (const [id, row] of await rowsOf(journal.journal, fed)) {
    const { task, price = 0 } = fed.get(id) ?? {};
    if (task === undefined) continue;
    const again = { ...task, attempts: row.attempts };
    if (row.status === 'open') {
      money.ledger.release(id);
      if (!stops.isStopping && (money.prices.priceOf(task.row) ?? 0) > price) tasks.push(again);
    } else if (row.status === 'unknown' && !stops.isStopping && callbacks?.named.has(id) !== true) {
      const times = doubles.get(id) ?? 0;
      if (!retriesUnknown(options, times)) continue;
      doubles.set(id, times + 1);
      await sendAgain(run, row);
      tasks.push(again);
    }
  }
  if (journal.records > records) await projections.catchUp();
  return tasks;
}

/** Reopens a row whose request may have been accepted. The money of that request stays in doubt. */
async function sendAgain(run: Run, row: RowRecords): Promise<void> {
  const { events, journal, options, toDo } = run;
  const reopened = reopenRecord(row, { at: options.scheduler.now(), why: 'retry', to: 'buy' });
  await lastValueFrom(journal.append(reopened));
  toDo.rows += 1;
  events.next({ type: 'reopened', id: row.id, row: row.intent?.row ?? 0, isOfThisStart: true });
  warnOfDouble(run, row.id);
}
