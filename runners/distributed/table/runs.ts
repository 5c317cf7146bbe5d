import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { CallbackSecret } from '../callbacks/callbacks-table.js';
import type { ReportedPrice } from '../../batch/row/totals.js';
import type { StopCause } from '../../batch/stop/stops.js';
import { worstEnd } from '../../batch/stop/worst-end.js';
import { inTransaction, type Transaction, wakeWorkers } from '../database/transaction.js';
import { type RunDatabase, isMoved, lockLedger, refuseTaken, RunTaken } from './run-ledger.js';
import { resetValueLedger } from './value-ledger.js';
import { mostInFlight, type RunTerms } from './run-terms.js';

/** A start of a run. Only the latest one may change the run's rows. */
export interface RunStart {
  readonly run: number;
  /** Its number: 0 for a run that was just created. */
  readonly start: number;
}

/** The money of a run before a start, and the position of its folder. */
export interface StartBefore {
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
  /** Spent and unknown money together, by column and value. @defaultValue nothing */
  readonly taken?: ReadonlyMap<string, ReadonlyMap<string, MicroDollars>>;
  /** The folder has all records up to this number. */
  readonly collected: number;
}

/** The number of the run with this key; `undefined` if there is none. */
export async function findRun({ pool }: Pick<RunDatabase, 'pool'>, key: string): Promise<number | undefined> {
  const { rows } = await pool.query<{ run: number }>('select run from millrace.runs where key = $1', [key]);
  return rows[0]?.run;
}

/** Whether the database was restored, or a standby took its place, since the run's latest start. */
export async function wasMoved({ pool }: Pick<RunDatabase, 'pool'>, run: number): Promise<boolean> {
  const { rows } = await pool.query<{ isMoved: boolean }>(
    `select ${isMoved} from millrace.runs where run = $1`,
    [run],
  );
  return rows[0]?.isMoved ?? false;
}

/** Creates a run unless there is one with this key. If another program has deleted its ledger, its gate or its queues, they are made anew. */
export async function makeRun({ pool, queue }: RunDatabase, key: string): Promise<number> {
  // One statement creates both, because a start that finds a run by its key expects its ledger. The database is noted, because a
  // standby may have the run and lack its first start, whose rows may have been bought.
  const { rows } = await pool.query<{ run: number }>(
    `with made as (insert into millrace.runs (key, terms, timeline) values ($1, '{}', millrace.timeline())
         on conflict (key) do update set key = excluded.key returning run),
       ledger as (insert into millrace.ledgers (run, seq)
         select run, coalesce((select max(seq) from millrace.records r where r.run = made.run), 0) from made on conflict do nothing),
       gate as (insert into millrace.gates (run) select run from made on conflict do nothing)
     select run from made`,
    [key],
  );
  const run = rows[0]?.run ?? 0;
  await queue.makeQueues(run);
  return run;
}

/**
 * Begins the start with this number, which has no rows in the database yet. From now on workers may take its rows.
 *
 * @throws {RunTaken} if another start has taken over the run
 */
export function beginStart(
  { pool }: RunDatabase,
  { run, start }: RunStart,
  terms: RunTerms,
  { spent, unknown, collected, taken = new Map<never, never>() }: StartBefore,
): Promise<void> {
  return inTransaction(pool, async (on) => {
    const ledger = await lockLedger(on, run);
    const { seq, waiting, inFlight } = ledger;
    refuseTaken(ledger, start);
    if (seq !== collected || waiting + inFlight > 0) throw new RunTaken();
    await on.query(
      'update millrace.ledgers set cap = $2, spent = $3, unknown = $4, concurrency = $5, fed = 0, unlisted = 0, agreed = $6 where run = $1',
      [run, terms.cap ?? null, spent, unknown, mostInFlight(terms), terms.unagreed?.agreed ?? null],
    );
    if (ledger.values.isUsed || terms.capsByUsd !== undefined)
      await resetValueLedger(on, run, terms.capsByUsd, taken);
    await on.query('update millrace.gates set rate = $2 where run = $1', [run, terms.rate ?? null]);
    await on.query('delete from millrace.troubles where run = $1', [run]);
    await on.query(
      `update millrace.runs set terms = $2, stop = null, blocked = '{}', prices = '[]', started_at = now(),
         timeline = millrace.timeline() where run = $1`,
      [run, JSON.stringify(terms)],
    );
    await wakeWorkers(on, run, 'orders');
  });
}

/** Stops a run. Of several causes the most important one is kept. */
export async function stopRun(on: Transaction, run: number, cause: StopCause): Promise<void> {
  const { rows } = await on.query<{ stop: string | null }>(
    'select stop from millrace.runs where run = $1 for update',
    [run],
  );
  const stored = rows[0]?.stop;
  const before = stored == null ? cause : (JSON.parse(stored) as StopCause);
  const leaves = [...new Set([...before.leaves, ...cause.leaves])];
  await on.query('update millrace.runs set stop = $2 where run = $1', [
    run,
    JSON.stringify({ ...worstEnd([before, cause]), leaves }),
  ]);
  await wakeWorkers(on, run, 'orders');
}

/** Stops a start of a run. @throws {RunTaken} if another start has taken over the run */
export function stopStart({ pool }: RunDatabase, { run, start }: RunStart, cause: StopCause): Promise<void> {
  return inTransaction(pool, async (on) => {
    refuseTaken(await lockLedger(on, run), start);
    await stopRun(on, run, cause);
  });
}

/** Notes an endpoint that the service does not know, with the service's message. */
export function noteBlocked(
  { pool }: RunDatabase,
  run: number,
  endpoint: string,
  message: string,
): Promise<void> {
  return inTransaction(pool, async (on) => {
    const { rows } = await on.query<{ blocked: string }>(
      'select blocked from millrace.runs where run = $1 for update',
      [run],
    );
    const known = JSON.parse(rows[0]?.blocked ?? '{}') as Record<string, string>;
    const blocked = JSON.stringify({ [endpoint]: message, ...known });
    if (known[endpoint] === undefined)
      await on.query('update millrace.runs set blocked = $2 where run = $1', [run, blocked]);
  });
}

/** Stores reported prices that are higher than those of the terms, so that workers reserve them from now on. */
export async function notePrices(
  { pool }: RunDatabase,
  run: number,
  prices: readonly ReportedPrice[],
): Promise<void> {
  await pool.query('update millrace.runs set prices = $2 where run = $1', [run, JSON.stringify(prices)]);
  await wakeWorkers(pool, run, 'orders');
}

/** The part of a run that workers read. */
export interface RunOrders {
  readonly run: number;
  readonly start: number;
  readonly terms: RunTerms;
  readonly stop: StopCause | undefined;
  readonly prices: readonly ReportedPrice[];
  /** Ms until requests are sent again. */
  readonly pausedMs: number;
  /** Rows that no worker has. */
  readonly waiting: number;
  /** The secret that signs callback addresses; `undefined` if no start had callbacks. */
  readonly webhooks: CallbackSecret | undefined;
  /** Whether stored callbacks wait for the processes that have their rows. */
  readonly areCalled: boolean;
  /** The database's clock, in ms since the epoch: the clocks of machines differ. */
  readonly now: number;
}

/** The runs with rows that no worker has, and those of the given numbers. */
export async function readOrders({ pool }: RunDatabase, runs: readonly number[]): Promise<RunOrders[]> {
  const { rows } = await pool.query<Stored>(
    `select run, start, terms, stop, prices, waiting, webhooks,
       exists (select from millrace.callbacks c where c.run = runs.run) as "areCalled", ${pausedMs},
       extract(epoch from clock_timestamp())::float8 * 1000 as now
     from millrace.runs join millrace.ledgers using (run) join millrace.gates using (run)
     where (waiting > 0 and stop is null) or run = any($1::int[]) order by run`,
    [runs],
  );
  return rows.map(({ terms, stop, prices, webhooks, ...orders }) => ({
    ...orders,
    terms: JSON.parse(terms) as RunTerms,
    stop: stop === null ? undefined : (JSON.parse(stop) as StopCause),
    prices: JSON.parse(prices) as ReportedPrice[],
    webhooks: webhooks === null ? undefined : (JSON.parse(webhooks) as CallbackSecret),
  }));
}

type Stored = Pick<RunOrders, 'run' | 'start' | 'waiting' | 'areCalled' | 'pausedMs' | 'now'> & {
  readonly terms: string;
  readonly stop: string | null;
  readonly prices: string;
  readonly webhooks: string | null;
};

/** Turns in which one worker may send requests. */
export interface Turns {
  readonly inMs: number;
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
