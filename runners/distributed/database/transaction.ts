import { createHash } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { isAway } from './database-error.js';

/**
 * About how many characters of rows or records one statement writes or reads: the database ends a transaction whose statements take
 * long to be made, and a string has at most 512 MB. A single one may be longer.
 */
export const mostText = 16_000_000;

/** Whatever runs statements: a pool, a connection, or a transaction. */
export type Queries = Pick<PoolClient, 'query'>;

/** A connection inside a transaction. A statement is sent without waiting for the answers to those before it. */
export interface Transaction extends Queries {
  /** Adds a statement to the commit, which is sent without waiting for this promise, but fails if the promise rejects. */
  withCommit(written: Promise<unknown>): void;
}

/**
 * Runs `work` in a transaction. If the connection breaks during the commit, it is not known whether the transaction was
 * committed, so `work` must be safe to run again.
 */
export async function inTransaction<T>(pool: Pool, work: (on: Transaction) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const written: Promise<unknown>[] = [];
  const withCommit = (one: Promise<unknown>): void => {
    written.push(one);
    // Handled at the commit, unless `work` fails before.
    one.catch(() => undefined);
  };
  let cause: unknown;
  const query = (text: string, values?: unknown[]) => {
    const answer = client.query(prepared(text, values));
    answer.catch((error: unknown) => (cause ??= error));
    return answer;
  };
  let isBroken = false;
  try {
    withCommit(client.query('begin'));
    const result = await work({ query: query as Transaction['query'], withCommit });
    await Promise.all([...written, client.query('commit')]);
    return result;
  } catch (thrown) {
    // The statement failed only because one before it had failed.
    const error = (thrown as { code?: unknown } | undefined)?.code === '25P02' ? (cause ?? thrown) : thrown;
    // A connection that does not answer would not answer a rollback either.
    if (isAway(error)) isBroken = true;
    else await client.query('rollback').catch(() => (isBroken = true));
    throw error;
  } finally {
    client.release(isBroken);
  }
}

/** Names a statement, so that the database parses and plans it only once for each connection. */
function prepared(text: string, values: unknown[] = []) {
  return { name: createHash('md5').update(text).digest('hex'), text, values };
}

/**
 * The channel that workers LISTEN to. `rows`: rows of a run wait, or slots are free. `orders`: its terms, its stop or
 * its pause have changed. `called`: a callback waits for the process that has its row, whose name follows as JSON unless
 * it is too long.
 */
export const workChannel = 'millrace';
/** The channel that collectors LISTEN to: a run has new records, or its workers have changed. */
export const recordChannel = 'millrace_records';

/** A notification has at most 8,000 bytes. */
const longestName = 1_000;

export async function wakeWorkers(
  on: Queries,
  run: number,
  why: 'rows' | 'orders' | 'called',
  row?: string,
): Promise<void> {
  const named = row === undefined ? '' : ` ${JSON.stringify(row)}`;
  const about = named.length > longestName ? '' : named;
  await on.query(`select pg_notify('${workChannel}', $1)`, [`${run} ${why}${about}`]);
}

export async function wakeCollector(on: Queries, run: number): Promise<void> {
  await on.query(`select pg_notify('${recordChannel}', $1)`, [String(run)]);
}
