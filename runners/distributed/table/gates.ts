import { wakeWorkers } from '../database/transaction.js';
import type { RunDatabase } from './run-ledger.js';

/** Turns in which one worker may send requests. */
export interface Turns {
  /** Ms until the first turn. */
  readonly inMs: number;
  /** Ms between two turns. */
  readonly everyMs: number;
}

/** Takes this many turns of a run's rate, after the turns that other workers have taken. */
export async function takeTurns({ pool }: RunDatabase, run: number, turns: number): Promise<Turns> {
  const { rows } = await pool.query<{ inMs: number; everyMs: number }>(
    // If the database's clock was set back, the turns already taken move back with it.
    `with before as (select run, rate, clock_timestamp() as now,
         greatest(next_at - greatest(taken_at - clock_timestamp(), interval '0'), clock_timestamp()) as first
       from millrace.gates where run = $1 for update)
     update millrace.gates set taken_at = now, next_at = first + $2::int * interval '1 s' / before.rate
     from before where gates.run = before.run returning extract(epoch from first - now)::float8 * 1000 as "inMs", 1000 / before.rate as "everyMs"`,
    [run, turns],
  );
  return rows[0] ?? { inMs: 0, everyMs: 0 };
}

/** A pause of this length means that the database's clock was set back. */
const isNoPause = `paused_until > clock_timestamp() + interval '10 minutes'`;

/** SQL for the ms that requests of a run are still paused. */
export const pausedMs = `case when ${isNoPause} then 0
  else greatest(extract(epoch from paused_until - clock_timestamp())::float8 * 1000, 0) end as "pausedMs"`;

/** Pauses all workers of a run. A pause during another one can only extend it. */
export async function pauseRun({ pool }: RunDatabase, run: number, forMs: number): Promise<void> {
  const { rowCount } = await pool.query(
    `update millrace.gates set paused_until = clock_timestamp() + $2::float8 * interval '1 ms'
     where run = $1 and (paused_until < clock_timestamp() + $2::float8 * interval '1 ms' or ${isNoPause})`,
    [run, forMs],
  );
  if (rowCount === 1) await wakeWorkers(pool, run, 'orders');
}
