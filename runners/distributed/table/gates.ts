import { wakeWorkers } from '../database/transaction.js';
import type { RunDatabase } from './run-database.js';

/** Turns to send requests, for one worker. */
export interface Turns {
  /** Ms until the first of them. */
  readonly inMs: number;
  /** Ms between two of them. */
  readonly everyMs: number;
}

/** Takes so many turns of a run's rate, behind those that other workers have taken. */
export async function takeTurns({ pool }: RunDatabase, run: number, turns: number): Promise<Turns> {
  const { rows } = await pool.query<{ inMs: number; everyMs: number }>(
    `with before as (select run, rate, greatest(next_at, clock_timestamp()) as first from millrace.gates where run = $1 for update)
     update millrace.gates set next_at = first + $2::int * interval '1 s' / before.rate from before where gates.run = before.run
     returning greatest(extract(epoch from first - clock_timestamp())::float8 * 1000, 0) as "inMs", 1000 / before.rate as "everyMs"`,
    [run, turns],
  );
  return rows[0] ?? { inMs: 0, everyMs: 0 };
}

/** Pauses all workers of a run. A pause during another one can only make it longer. */
export async function pauseRun({ pool }: RunDatabase, run: number, forMs: number): Promise<void> {
  const { rowCount } = await pool.query(
    `update millrace.gates set paused_until = clock_timestamp() + $2::float8 * interval '1 ms'
     where run = $1 and paused_until < clock_timestamp() + $2::float8 * interval '1 ms'`,
    [run, forMs],
  );
  if (rowCount === 1) await wakeWorkers(pool, run, 'orders');
}
