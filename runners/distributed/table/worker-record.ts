import type { StopCause } from '../../batch/stop/stops.js';
import { type Queries, wakeCollector } from '../database/transaction.js';
import { hasOverdueRow, releaseSeat } from './release-rows.js';
import type { RunDatabase } from './run-ledger.js';
import { seatsOrRows, type Seat } from './seats.js';

export const heartbeatMs = 5_000;
/** A worker that has missed two heartbeats is reported as silent. */
export const silentAfterMs = 2 * heartbeatMs + 2_000;
/** A worker without a heartbeat for this long is declared dead. */
export const deadAfterMs = 40_000;
/**
 * A silent worker is declared dead earlier if one of its /runsync requests timed out this long ago: a live worker would have
 * written its end.
 */
const overdueMs = 10_000;
/** How often each process of a run releases the rows of dead workers. */
export const sweepMs = 5_000;

/** The current work of a worker, over all runs. */
export interface WorkerDoes {
  /** Rows that it has sent, or is about to send. */
  readonly sends: number;
  /** Rows whose job it polls. */
  readonly polls: number;
  readonly saves: number;
}

export interface WorkerState {
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  /** In ms since the epoch. */
  readonly startedAt: number;
  /** Ms since its last heartbeat. */
  readonly seenMsAgo: number;
  readonly does: WorkerDoes;
  /** Rows that no other worker can continue until this one is declared dead. */
  readonly rows: number;
}

export type WorkerFacts = Pick<WorkerState, 'worker' | 'host' | 'pid' | 'does'>;

/** Workers with a heartbeat within the last two minutes, and those that still have rows. */
export async function readWorkers(on: Queries): Promise<WorkerState[]> {
  const text = `select w.worker, host, pid, does, extract(epoch from started_at)::float8 * 1000 as "startedAt",
      greatest(extract(epoch from clock_timestamp() - seen_at)::float8 * 1000, 0) as "seenMsAgo", coalesce(held.rows, 0) as rows
    from millrace.workers w left join (
      select worker, count(*)::int as rows from millrace.rows where worker is not null group by worker) held using (worker)
    where seen_at > clock_timestamp() - interval '2 minutes' or held.rows > 0 order by w.started_at, w.worker`;
  const { rows } = await on.query<Omit<WorkerState, 'does'> & { does: string }>(text);
  return rows.map(({ does, ...worker }) => ({ ...worker, does: JSON.parse(does) as WorkerDoes }));
}

/** How long a worker has been silent, and when other workers continue its rows; `undefined` if it is not silent. */
export function describeSilence({ seenMsAgo, rows }: WorkerState): string | undefined {
  if (seenMsAgo < silentAfterMs) return undefined;
  const inMs = deadAfterMs + sweepMs - seenMsAgo;
  const when = inMs > 0 ? ` in at most ${seconds(inMs)}` : ' as soon as another worker is there';
  const goOn = rows === 1 ? 'its row goes on' : `its ${rows} rows go on`;
  return `silent for ${seconds(seenMsAgo)}; ${rows === 0 ? 'it held no rows' : goOn + when}`;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

/** Writes the heartbeat of a worker with its current work. */
export async function noteWorker(on: Queries, { worker, host, pid, does }: WorkerFacts): Promise<void> {
  await on.query(
    `insert into millrace.workers (worker, host, pid, does, seen_at) values ($1, $2, $3, $4, clock_timestamp())
     on conflict (worker) do update set does = excluded.does, seen_at = excluded.seen_at`,
    [worker, host, pid, JSON.stringify(does)],
  );
}

/** Deletes the record of a worker that has left and has no rows. Also deletes those of workers that died a day ago. */
export async function forgetWorker(on: Queries, worker: string): Promise<void> {
  await on.query(
    `delete from millrace.workers where worker = $1 or seen_at < clock_timestamp() - interval '1 day'`,
    [worker],
  );
}

/** Notes why a worker gave back its rows of a run. */
export async function noteTrouble(
  { pool }: RunDatabase,
  { run, worker }: { readonly run: number; readonly worker: string },
  cause: StopCause,
): Promise<void> {
  await pool.query(
    'insert into millrace.troubles (run, worker, cause) values ($1, $2, $3) on conflict do nothing',
    [run, worker, JSON.stringify(cause)],
  );
  await wakeCollector(pool, run);
}

const isSilent = `not exists (select from millrace.workers w where w.worker = s.worker
  and seen_at > clock_timestamp() - $1::float8 * interval '1 ms')`;

/** What the worker that sweeps knows of its own seats. */
export interface OwnSeats {
  readonly worker: string;
  readonly has: (run: number) => boolean;
}

/**
 * Releases the rows of dead workers, those of workers whose seats somebody has deleted by hand, and those of seats that this worker
 * has given up: a database that was put back has them again. Every worker and collector calls this regularly.
 */
export async function sweep(database: RunDatabase, own?: OwnSeats): Promise<void> {
  const { pool } = database;
  const { rows } = await pool.query<Seat>(
    `select run, worker from (${seatsOrRows}) s where ${isSilent} or worker = $2 order by run`,
    [silentAfterMs, own?.worker ?? null],
  );
  for (const seat of rows) {
    const isLeft = () => own?.worker === seat.worker && !own.has(seat.run);
    const isDue = async (on: Queries) => isLeft() || isDead(on, seat);
    if (await isDue(pool)) await releaseSeat(database, seat, isDue);
  }
}

/**
 * Checked without the lock, because all workers wait for it, and again under it: the worker may have come back, or have written its
 * answer, while the lock was awaited.
 */
async function isDead(on: Queries, seat: Seat): Promise<boolean> {
  const isSilentFor = async (ms: number): Promise<boolean> => {
    const found = await on.query(`select from (select $2::uuid as worker) s where ${isSilent}`, [
      ms,
      seat.worker,
    ]);
    return found.rowCount === 1;
  };
  if (await isSilentFor(deadAfterMs)) return true;
  return (await isSilentFor(silentAfterMs)) && hasOverdueRow(on, seat, overdueMs);
}

/** Once the database is back, every live worker has sent a heartbeat within this many ms. */
export const graceMs = 15_000;

/**
 * Decides whether the age of heartbeats can be trusted: while the database is away no worker can send one, and when its
 * clock is set forward all of them look old.
 */
export class SteadyDatabase {
  private steadySince = -Infinity;
  private firstAt: number | undefined;
  private ahead: number | undefined;

  constructor(
    private readonly database: Pick<RunDatabase, 'pool'>,
    private readonly now: () => number,
  ) {}

  /** A slow answer counts as none. */
  async look(): Promise<void> {
    const lookedAt = this.now();
    const before = this.ahead;
    this.ahead = NaN;
    const { rows } = await this.database.pool.query<{ now: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
    );
    this.ahead = (rows[0]?.now ?? 0) - this.now();
    this.firstAt ??= this.now();
    const isSteady = before === undefined || Math.abs(this.ahead - before) < graceMs / 3;
    if (!isSteady || this.now() - lookedAt > graceMs / 3) this.steadySince = this.now();
  }

  /** Whether workers without heartbeats are dead. What happened before the first look is not known. */
  get areSilentOnesDead(): boolean {
    return this.isSteadyFor(graceMs) && this.now() - (this.firstAt ?? Infinity) >= graceMs;
  }

  /** The database has answered, and its clock was steady, for this long; true before the first look. */
  isSteadyFor(ms: number): boolean {
    return this.now() - this.steadySince >= ms;
  }
}

/**
 * A sweep to be called every few seconds. While the database is away no worker can send a heartbeat, and when its clock
 * is set forward all heartbeats look old: no worker is declared dead until the database has been back, with a steady
 * clock, for a while.
 */
export function createSweeper(
  database: RunDatabase,
  now: () => number,
  own?: () => OwnSeats,
): () => Promise<void> {
  const steady = new SteadyDatabase(database, now);
  return async () => {
    await steady.look();
    if (steady.areSilentOnesDead) await sweep(database, own?.());
  };
}
