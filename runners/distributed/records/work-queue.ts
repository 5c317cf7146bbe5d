import type PgBoss from 'pg-boss';
import { type Database, type Transaction, queueSchema } from './database.js';

/** `submit`: the row is sent. `poll`: its job is polled once. `download`: its picture is saved. */
export type WorkKind = 'submit' | 'poll' | 'download';
export const workKinds: readonly WorkKind[] = ['submit', 'poll', 'download'];

/** Work on a row: a job of pg-boss, named by the row's own uuid, so that there is at most one of a kind. */
export interface WorkItem {
  readonly item: string;
  /** Ms from now before which no worker takes it. */
  readonly afterMs: number;
  /** Passed on from one item to the next. */
  readonly data?: WorkData;
}

export interface WorkData {
  /** Status calls so far, in this start. */
  readonly calls: number;
  /** Consecutive tries without an answer. */
  readonly failures: number;
  /** Consecutive 404s: when the first one came, in ms since the epoch by the database's clock, and how many there were. */
  readonly missing?: { readonly since: number; readonly answers: number };
}

/** How long a worker may hold an item before another one gets it: a poll is short, a picture may be large. */
const leaseSeconds: Record<WorkKind, number> = { submit: 300, poll: 30, download: 3_600 };
/** An item is never given up. */
const retryLimit = 1_000_000;

export function queueOf(run: number, kind: WorkKind): string {
  return `millrace_${run}_${kind}`;
}

export async function makeQueues({ boss }: Database, run: number): Promise<void> {
  for (const kind of workKinds) {
    const options = { retryLimit, retryDelay: 0, expireInSeconds: leaseSeconds[kind] };
    const name = queueOf(run, kind);
    await boss.createQueue(name, { ...options, name, policy: 'standard' });
  }
}

/** pg-boss drops no queue that has items, so they are deleted first. */
export async function dropQueues({ boss, pool }: Database, run: number): Promise<void> {
  const names = workKinds.map((kind) => queueOf(run, kind));
  await pool.query(`delete from ${queueSchema}.job where name = any($1)`, [names]);
  for (const name of names) await boss.deleteQueue(name);
}

/** Schedules items, each in place of one of the same name. */
export async function scheduleItems(
  boss: PgBoss,
  on: Transaction,
  queue: { run: number; kind: WorkKind },
  items: readonly WorkItem[],
): Promise<void> {
  if (items.length === 0) return;
  const name = queueOf(queue.run, queue.kind);
  await dropItems(
    boss,
    on,
    queue,
    items.map(({ item }) => item),
  );
  const jobs = items.map(({ item, afterMs, data }) => ({
    ...{ id: item, name, startAfter: `${Math.max(afterMs, 0) / 1_000}` },
    ...(data && { data }),
  }));
  await boss.insert(jobs, { db: executing(on) });
}

export async function dropItems(
  boss: PgBoss,
  on: Transaction,
  { run, kind }: { run: number; kind: WorkKind },
  items: readonly string[],
): Promise<void> {
  if (items.length > 0) await boss.deleteJob(queueOf(run, kind), [...items], { db: executing(on) });
}

/** Leases items that are due. pg-boss returns none when its query fails: inside a transaction the next query fails then as well. */
export async function fetchItems(
  boss: PgBoss,
  on: Transaction,
  { run, kind }: { run: number; kind: WorkKind },
  most: number,
): Promise<readonly { readonly item: string; readonly data: WorkData }[]> {
  const batchSize = Math.floor(most);
  if (batchSize < 1) return [];
  const options = { batchSize, priority: false, db: executing(on) };
  const jobs = await boss.fetch<WorkData | null>(queueOf(run, kind), options);
  return jobs.map(({ id, data }) => ({ item: id, data: data ?? { calls: 0, failures: 0 } }));
}

/** SQL for the ms until the next item is due, 0 or less if one is; null if there is none. */
export const nextDueSql = (kind: WorkKind): string =>
  `(select extract(epoch from min(start_after) - clock_timestamp()) * 1000 from ${queueSchema}.job
    where name = 'millrace_' || $1::int || '_${kind}' and state < 'active')`;

function executing(on: Transaction): PgBoss.Db {
  return { executeSql: (text, values) => on.query(text, values) };
}
