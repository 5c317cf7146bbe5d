import { inTransaction, type Database, type Transaction } from './database.js';
import { lockRows } from './row-record.js';
import { RunChange } from './run-change.js';

/** How often a worker sends a heartbeat. */
export const heartbeatMs = 5_000;
/** A worker that has missed two heartbeats is reported as silent. */
export const silentAfterMs = 2 * heartbeatMs + 2_000;
/** A worker without a heartbeat for this long is taken for dead; a row that waits for /runsync gets that time on top. */
export const deadAfterMs = 40_000;
/** How often each worker releases what dead workers hold. */
export const sweepMs = 10_000;

/** SQL for the ms that a row gets on top. The JSON is read as text, because PostgreSQL's own reader fails at half a surrogate pair. */
export const runsyncGrace = `case when state = 'sent' and brief::text like '%"mode":"sync"%'
  then substring(terms::text from '"runsyncTimeoutMs":(\\d+)')::float8 else 0 end`;

export interface WorkerState {
  readonly worker: string;
  readonly host: string;
  readonly pid: number;
  /** In ms since the epoch. */
  readonly startedAt: number;
  /** Ms since its last heartbeat. */
  readonly seenMsAgo: number;
  /** How many work items of each kind it holds. */
  readonly does: { readonly submits: number; readonly polls: number; readonly downloads: number };
  /** Rows that only it can go on with until it is taken for dead: those it sends, and those whose picture it saves. */
  readonly rows: number;
  /** The longest time that one of these rows gets on top, because it waits for /runsync. */
  readonly graceMs: number;
}

export type WorkerFacts = Pick<WorkerState, 'worker' | 'host' | 'pid' | 'does'>;

/** Workers with a heartbeat within the last two minutes, and those that still hold rows. */
export async function readWorkers(on: Transaction): Promise<WorkerState[]> {
  const text = `select w.worker, host, pid, does, extract(epoch from started_at)::float8 * 1000 as "startedAt",
      greatest(extract(epoch from clock_timestamp() - seen_at)::float8 * 1000, 0) as "seenMsAgo", held.*
    from millrace.workers w cross join lateral (
      select count(*)::int as rows, coalesce(max(${runsyncGrace}), 0)::float8 as "graceMs"
      from millrace.rows join millrace.runs using (run) where rows.worker = w.worker
    ) as held
    where seen_at > clock_timestamp() - interval '2 minutes' or held.rows > 0 order by w.started_at, w.worker`;
  return (await on.query<WorkerState>(text)).rows;
}

/** How long a worker has been silent, and when other workers go on with its rows; `undefined` for a worker that is not silent. */
export function describeSilence(worker: WorkerState): string | undefined {
  const { seenMsAgo, graceMs } = worker;
  if (seenMsAgo < silentAfterMs) return undefined;
  const rows = rowsInHand(worker);
  const inMs = deadAfterMs + sweepMs + graceMs - seenMsAgo;
  const when = inMs > 0 ? ` in at most ${seconds(inMs)}` : ' as soon as another worker is there';
  const goOn = rows === 1 ? 'its row goes on' : `its ${rows} rows go on`;
  return `silent for ${seconds(seenMsAgo)}; ${rows === 0 ? 'it held no rows' : goOn + when}`;
}

/** Rows that are held up when the worker dies: a job that it polls is free again after the lease of the work item. */
export function rowsInHand({ rows, does }: Pick<WorkerState, 'rows' | 'does'>): number {
  return rows + does.polls;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 1_000)} s`;
}

/** The heartbeat of a worker: it is alive, and this is what it does. */
export async function noteWorker(on: Transaction, { worker, host, pid, does }: WorkerFacts): Promise<void> {
  await on.query(
    `insert into millrace.workers (worker, host, pid, does, seen_at) values ($1, $2, $3, $4, clock_timestamp())
     on conflict (worker) do update set does = excluded.does, seen_at = excluded.seen_at`,
    [worker, host, pid, JSON.stringify(does)],
  );
}

/** The worker has left, and holds nothing any more. */
export async function forgetWorker(on: Transaction, worker: string): Promise<void> {
  await on.query('delete from millrace.workers where worker = $1', [worker]);
}

/**
 * Gives back the rows that the database assigns to the worker and that the worker does not know: the connection broke while
 * their intents were committed, so nothing was sent.
 */
export async function giveBack(
  database: Database,
  run: number,
  { worker, known }: { worker: string; known: ReadonlySet<string> },
): Promise<void> {
  await inTransaction(database.pool, async (on) => {
    const change = await RunChange.begin(database, on, run);
    for (const row of await lockRows(on, run, { workers: [worker] })) {
      if (known.has(row.item)) continue;
      const isSent = row.state === 'sent';
      const free = change.put(row, { worker: null, ...(isSent && { state: 'open' }) });
      change.schedule(isSent ? 'submit' : 'download', free, 0);
    }
    await change.save();
  });
}
