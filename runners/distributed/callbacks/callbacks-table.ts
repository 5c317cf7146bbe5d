import { createHash } from 'node:crypto';
import type { CallbackResult } from '../../../src/policy/job-webhook.js';
import type { OrphanCallback } from '../../../src/webhooks/called-jobs.js';
import { jobIdIn, type CallbackSecret, type JobOfPost } from '../../batch/context/callback-port.js';
import { wakeWorkers, type Queries } from '../database/transaction.js';

export type { CallbackSecret };

/** A callback that waits for the process that has its row. */
export interface StoredCallback extends JobOfPost {
  /** A hash of the whole callback; a repeated callback has the same. */
  readonly digest: string;
}

/** Stores the secret that signs a run's callback addresses, for all processes that receive callbacks. */
export async function keepSecret(on: Queries, run: number, secret: CallbackSecret): Promise<void> {
  await on.query('update millrace.runs set webhooks = $2 where run = $1', [run, JSON.stringify(secret)]);
}

/** The secrets of all runs that ever had callbacks. */
export async function readSecrets(on: Queries): Promise<(CallbackSecret & { readonly number: number })[]> {
  const { rows } = await on.query<{ number: number; webhooks: string }>(
    'select run as number, webhooks from millrace.runs where webhooks is not null',
  );
  return rows.map(({ number, webhooks }) => ({ number, ...(JSON.parse(webhooks) as CallbackSecret) }));
}

/**
 * Stores a genuine callback in the database for the process that has its row or will have it, and wakes that process.
 * The callback is durable once this resolves to `noted`.
 */
export async function storeCallback(
  pool: Queries,
  run: number,
  { row, attempt, body = '' }: Omit<OrphanCallback, 'run'>,
): Promise<CallbackResult> {
  const jobId = jobIdIn(body);
  if (jobId === undefined) return 'unreadable';
  await storeJob(pool, run, { row, attempt, jobId }, body);
  await wakeWorkers(pool, run, 'called', row);
  return 'noted';
}

/**
 * Stores which job the POST of a row created, without a body. Also used when the answer arrived after the worker was
 * declared dead.
 */
export async function storeJob(
  on: Queries,
  run: number,
  { row, attempt, jobId }: JobOfPost,
  body = '',
): Promise<void> {
  const digest = createHash('sha256')
    .update(JSON.stringify([row, attempt, body]))
    .digest('hex')
    .slice(0, 32);
  await on.query(
    `insert into millrace.callbacks (run, digest, id, attempt, job_id, body) values ($1, $2, $3, $4, $5, $6)
     on conflict do nothing`,
    [run, digest, JSON.stringify(row), attempt, JSON.stringify(jobId), body],
  );
}

const found = `select replace(digest::text, '-', '') as digest, id as row, attempt, job_id as "jobId" from millrace.callbacks
  where run = $1`;

/** The stored callbacks of these rows, without their bodies. */
export async function readStored(
  on: Queries,
  run: number,
  ids: readonly string[],
): Promise<StoredCallback[]> {
  const { rows } = await on.query<StoredCallback>(`${found} and id = any($2::text[]) order by id, digest`, [
    run,
    ids.map((id) => JSON.stringify(id)),
  ]);
  return rows.map(storedCallback);
}

/**
 * All stored callbacks, without their bodies, in pages: those that arrive after the ends of their rows stay until the end of the run.
 *
 * @param ask repeats a query while the database is away
 */
export async function* storedPages(
  on: Queries,
  run: number,
  ask = <T>(question: () => Promise<T>) => question(),
): AsyncGenerator<readonly StoredCallback[]> {
  const text = `${found} and ($2::uuid is null or digest > $2::uuid) order by digest limit $3`;
  let last: string | undefined;
  do {
    const after = last ?? null;
    const { rows } = await ask(() => on.query<StoredCallback>(text, [run, after, pageCallbacks]));
    if (rows.length > 0) yield rows.map(storedCallback);
    last = rows[pageCallbacks - 1]?.digest;
  } while (last !== undefined);
}

const pageCallbacks = 10_000;

/** Names are JSON in the table. */
function storedCallback({ row, jobId, ...stored }: StoredCallback): StoredCallback {
  return { ...stored, row: JSON.parse(row) as string, jobId: JSON.parse(jobId) as string };
}

/** The body of a stored callback; `undefined` if a process has handled it already. */
export async function readBody(on: Queries, run: number, digest: string): Promise<string | undefined> {
  const { rows } = await on.query<{ body: string }>(
    'select body from millrace.callbacks where run = $1 and digest = $2',
    [run, digest],
  );
  return rows[0]?.body;
}

/** Deletes stored callbacks that were handled, or have no effect any more. */
export async function dropStored(on: Queries, run: number, digests: readonly string[]): Promise<void> {
  if (digests.length === 0) return;
  await on.query('delete from millrace.callbacks where run = $1 and digest = any($2::uuid[])', [
    run,
    digests,
  ]);
}
