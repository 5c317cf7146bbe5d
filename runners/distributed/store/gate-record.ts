import type { WaitReason } from '../../../src/contract/outcome.js';
import { backoff } from '../../../src/policy/backoff.js';
import { inTransaction, type Database, type Transaction } from './database.js';
import type { GateRecord } from './grant-turns.js';
import { RunGone } from './ledger-record.js';
import { wakeWorkers } from './wake-workers.js';

const ms = (column: string): string => `extract(epoch from ${column})::float8 * 1000`;

/** PostgreSQL before 17 cannot subtract `-infinity`, so it is read as the year 1970. */
export const past = (column: string): string => `greatest(${column}, to_timestamp(0))`;

/** SQL for the ms until a time, 0 when it has passed. */
export const msUntil = (column: string): string =>
  `greatest(${ms(`${past(column)} - clock_timestamp()`)}, 0)`;

/** Locks a run's gate until the transaction is over; after its ledger, where both are. */
export async function lockGate(on: Transaction, run: number): Promise<GateRecord> {
  const text = `select rate, recovering, ${ms('clock_timestamp()')} as now, ${ms(past('next_at'))} as "nextAt",
      ${ms(past('paused_until'))} as "pausedUntil", ${ms(past('probe_until'))} as "probeUntil"
    from millrace.gates where run = $1 for update`;
  const [gate] = (await on.query<GateRecord>(text, [run])).rows;
  if (gate === undefined) throw new RunGone(run);
  return gate;
}

export async function saveGate(on: Transaction, run: number, gate: GateRecord): Promise<void> {
  await on.query(
    `update millrace.gates set next_at = to_timestamp($2::float8 / 1000), probe_until = to_timestamp($3::float8 / 1000)
     where run = $1`,
    [run, gate.nextAt, gate.probeUntil],
  );
}

/** Nobody sends anything for a while. A pause that is asked for while there is one only makes it longer. */
export async function pauseGate(
  { pool }: Pick<Database, 'pool'>,
  run: number,
  pause: { why: WaitReason; askedMs: number; random: () => number },
): Promise<void> {
  await inTransaction(pool, async (on) => {
    const gate = await lockGate(on, run);
    const isPaused = gate.pausedUntil > gate.now;
    if (isPaused && gate.now + pause.askedMs <= gate.pausedUntil) return;
    const { rows } = await on.query<{ pauses: number }>(
      'update millrace.gates set pauses = pauses + $2, recovering = true, why = $3 where run = $1 returning pauses',
      [run, isPaused ? 0 : 1, pause.why],
    );
    const forMs = pause.askedMs > 0 ? pause.askedMs : backoff(rows[0]?.pauses ?? 1, pause.random);
    await on.query(
      `update millrace.gates set paused_until = to_timestamp($2::float8 / 1000), probe_until = '-infinity' where run = $1`,
      [run, gate.now + forMs],
    );
    await wakeWorkers(on);
  });
}

/** The service has given a good answer: it is there, and after a pause everybody may go on. */
export async function openGate({ pool }: Pick<Database, 'pool'>, run: number): Promise<void> {
  await pool.query(
    `with before as (select recovering from millrace.gates where run = $1),
       heard as (update millrace.gates set heard_at = clock_timestamp(),
         recovering = recovering and paused_until > clock_timestamp(),
         pauses = case when paused_until > clock_timestamp() then pauses else 0 end where run = $1 returning 1)
     select pg_notify('millrace', '') from before, heard where before.recovering`,
    [run],
  );
}
