import type { RunDatabase } from './run-database.js';

/** A job id that arrived after its worker had been taken for dead: the row had ended as `unknown` by then. */
export interface LateJob {
  readonly id: string;
  /** The POST that it answered. */
  readonly attempt: number;
  readonly jobId: string;
}

export async function noteLateJob(
  { pool }: RunDatabase,
  run: number,
  { id, attempt, jobId }: LateJob,
): Promise<void> {
  await pool.query(
    'insert into millrace.late_jobs (run, id, attempt, job_id) values ($1, $2, $3, $4) on conflict do nothing',
    [run, JSON.stringify(id), attempt, JSON.stringify(jobId)],
  );
}

export async function readLateJobs({ pool }: RunDatabase, run: number): Promise<LateJob[]> {
  const { rows } = await pool.query<{ id: string; attempt: number; jobId: string }>(
    'select id, attempt, job_id as "jobId" from millrace.late_jobs where run = $1',
    [run],
  );
  return rows.map(({ id, attempt, jobId }) => ({
    id: JSON.parse(id) as string,
    attempt,
    jobId: JSON.parse(jobId) as string,
  }));
}
