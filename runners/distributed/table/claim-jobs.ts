import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { inTransaction, type Transaction } from '../database/transaction.js';

/** The job of a row, from the answer to its POST or from the manifest. */
export interface RowJob {
  readonly key: string;
  readonly endpoint: string;
  readonly jobId: string;
}

/**
 * Claims jobs for rows, in the transaction that writes them. Returns the jobs that belong to another row, or to an
 * earlier POST of the same row, each with the key of that row.
 */
export async function claimJobs(
  on: Transaction,
  run: number,
  jobs: readonly RowJob[],
): Promise<ReadonlyMap<RowJob, string>> {
  if (jobs.length === 0) return new Map();
  const hashes = jobs.map(hashOf);
  const firsts = new Map(hashes.map((hash, place) => [hash, place] as const).toReversed());
  const { rows: taken } = await on.query<{ hash: string }>(
    `insert into millrace.jobs (run, hash, id)
     select $1, * from unnest($2::uuid[], $3::text[]) on conflict do nothing returning replace(hash::text, '-', '') as hash`,
    [run, [...firsts.keys()], [...firsts.values()].map((place) => jobs[place]?.key)],
  );
  const fresh = new Set(taken.map(({ hash }) => hash));
  const others = jobs.filter((_, place) => {
    const hash = hashes[place] ?? '';
    return !fresh.has(hash) || firsts.get(hash) !== place;
  });
  return others.length === 0 ? new Map() : ownersOf(on, run, others);
}

/** Claims a job for a row. Returns the key of the row that has the job if it is another one. */
export async function claimJob(pool: Pool, run: number, job: RowJob): Promise<string | undefined> {
  const owner = (await inTransaction(pool, (on) => claimJobs(on, run, [job]))).get(job);
  return owner === job.key ? undefined : owner;
}

async function ownersOf(
  on: Transaction,
  run: number,
  jobs: readonly RowJob[],
): Promise<ReadonlyMap<RowJob, string>> {
  const { rows } = await on.query<{ hash: string; id: string }>(
    `select replace(hash::text, '-', '') as hash, id from millrace.jobs where run = $1 and hash = any($2::uuid[])`,
    [run, jobs.map(hashOf)],
  );
  const owners = new Map(rows.map(({ hash, id }) => [hash, id]));
  return new Map(jobs.map((job) => [job, owners.get(hashOf(job)) ?? '']));
}

function hashOf({ endpoint, jobId }: RowJob): string {
  return createHash('sha256').update(`${endpoint}\n${jobId}`).digest('hex').slice(0, 32);
}
