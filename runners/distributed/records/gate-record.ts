import type { WaitReason } from '../../../src/contract/outcome.js';
import { backoff } from '../../../src/policy/retry-delay.js';
import { inTransaction, type Database, type Transaction, wakeWorkers } from './database.js';
import { RunGone } from './ledger-record.js';

const ms = (column: string): string => `extract(epoch from ${column})::float8 * 1000`;

/** PostgreSQL before 17 cannot subtract `-infinity`, so it is read as the year 1970. */
export const past = (column: string): string => `greatest(${column}, to_timestamp(0))`;

/** SQL for the ms until a time, 0 when it has passed. */
export const msUntil = (column: string): string =>
  `greatest(${ms(`${past(column)} - clock_timestamp()`)}, 0)`;

/** Locks a run's gate until the transaction ends. A transaction that needs the ledger as well locks that one first. */
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

/** Pauses all workers of a run. A pause during another pause can only make it longer. */
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

/** The service gave a good answer: all workers may go on after a pause. */
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

/** The gate of a run. Times in ms since the epoch, by the database's clock. */
export interface GateRecord {
  readonly now: number;
  /** Requests a second; `null`: no limit. */
  readonly rate: number | null;
  /** When the next request may leave. */
  readonly nextAt: number;
  readonly pausedUntil: number;
  /** After a pause one probe at a time is sent, until an answer is good. */
  readonly recovering: boolean;
  readonly probeUntil: number;
}

/** Requests that may leave, evenly spaced. */
interface Turns {
  readonly count: number;
  /** Ms from now; 0 for at once. */
  readonly firstInMs: number;
  readonly everyMs: number;
}

/** A probe that was not refused within this time, in ms, was accepted. */
const probeMs = 2_000;
/** A busy machine makes up for being late, up to this many ms. */
const latenessMs = 200;

/** How many of the wanted requests may leave within `horizonMs`. */
export function turnsAt(gate: GateRecord, wanted: number, horizonMs: number): Turns {
  const { now, rate, pausedUntil, recovering, probeUntil } = gate;
  if (pausedUntil > now || (recovering && probeUntil > now)) return { count: 0, firstInMs: 0, everyMs: 0 };
  const most = recovering ? Math.min(wanted, 1) : wanted;
  if (rate === null) return { count: most, firstInMs: 0, everyMs: 0 };
  const everyMs = 1_000 / rate;
  const start = startOf(gate, everyMs);
  const fitting = Math.floor((now + horizonMs - start) / everyMs) + 1;
  return { count: Math.max(Math.min(most, fitting), 0), firstInMs: Math.max(start - now, 0), everyMs };
}

/** The gate after these turns were taken. */
export function afterTurns(gate: GateRecord, { count, everyMs }: Turns): GateRecord {
  if (count === 0) return gate;
  const nextAt = gate.rate === null ? gate.nextAt : startOf(gate, everyMs) + count * everyMs;
  return { ...gate, nextAt, probeUntil: gate.recovering ? gate.now + probeMs : gate.probeUntil };
}

function startOf({ now, nextAt }: GateRecord, everyMs: number): number {
  return Math.max(nextAt, now - Math.max(latenessMs - everyMs, 0));
}
