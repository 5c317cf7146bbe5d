import type { Journal } from '../../batch/journal/journal.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { inTransaction } from '../database/transaction.js';
import { claimJobs, type RowJob } from '../table/claim-jobs.js';
import type { RunDatabase } from '../table/run-database.js';

/** Jobs written in one transaction. */
const batchJobs = 1_000;

/**
 * Names the jobs of a journal to the workers of its run, behind its record number `after`: an answer with the id of one of them may
 * be the answer to another request. The jobs that workers have are known already; these are of starts without the database.
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

/** The endpoints of rows that are read. */
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
