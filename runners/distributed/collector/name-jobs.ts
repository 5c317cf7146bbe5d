import { lastValueFrom } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import { rowsOf } from '../../batch/end/named-rows.js';
import type { Journal } from '../../batch/journal/journal.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import { goingOnWith } from '../../batch/row/left-rows.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import type { RowTask } from '../../batch/row/task.js';
import { dropStored, readStored } from '../callbacks/callbacks-table.js';
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
  const endpoints = new Endpoints(journal);
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
      jobs.push({ key: record.id, endpoint: await endpoints.of(record), jobId: record.jobId });
    endpoints.take(record);
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
  const stored = await ask(() => readStored(pool, run));
  if (stored.length === 0) return;
  callbacks.endWork(await rowsOf(journal.journal, new Set(stored.map(({ row }) => row))));
  callbacks.useJobIds({ claim: (job) => ask(() => claimJob(pool, run, job)) });
  for (const callback of stored) await lastValueFrom(callbacks.orphan(callback), { defaultValue: undefined });
  if (stops.isStopping || toDo.rows > 0) return;
  const isOver = (row: string) => callbacks.named.get(row)?.isTaken ?? !callbacks.named.has(row);
  const over = stored.filter(({ row }) => isOver(row)).map(({ digest }) => digest);
  await ask(() => dropStored(pool, run, over));
}

/** Tasks to poll the jobs that callbacks named for rows that were to be sent again. A stopping run leaves them to the next start. */
export async function foundTasks({ callbacks, journal, money, options, stops }: Run): Promise<RowTask[]> {
  if (callbacks === undefined || stops.isStopping) return [];
  const tasks: RowTask[] = [];
  for (const { again, jobId } of callbacks.takeLeft()) {
    const { records, task } = goingOnWith(again, { jobId, at: options.scheduler.now() });
    for (const record of records) await lastValueFrom(journal.append(record));
    // The refused request's reservation is used for the job.
    money.ledger.release(again.id);
    money.ledger.reserve(again.id, again.intent.price, again.intent);
    tasks.push(task);
  }
  return tasks;
}

/** The endpoints of the rows that are read. */
class Endpoints {
  private readonly known = new Map<string, string>();

  constructor(private readonly journal: Pick<Journal, 'find'>) {}

  async of(record: RowRecord): Promise<string> {
    if ('endpoint' in record && record.endpoint !== undefined) return record.endpoint;
    const known = this.known.get(record.id) ?? (await this.journal.find(record.id))?.intent?.endpoint;
    return known ?? '';
  }

  take(record: JournalRecord): void {
    if (record.k === 'intent') this.known.set(record.id, record.endpoint);
    if (record.k === 'outcome') this.known.delete(record.id);
  }
}
