import type { Pool } from 'pg';
import { DatabaseError } from '../database/database-error.js';
import type { Queries, Transaction } from '../database/transaction.js';

/** The queue of a row: `send`, or `poll` if its job is known. */
export type Place = 'send' | 'poll';
export const places: readonly Place[] = ['poll', 'send'];

export const queueSchema = 'millrace_queue';

/**
 * Deals rows to workers: each waiting row is a pg-boss job with the row's uuid as its name. The transaction that deals a row
 * removes its job; the table of rows shows which worker has it.
 */
export interface RowQueue {
  makeQueues(run: number): Promise<void>;
  put(on: Transaction, run: number, place: Place, items: readonly QueuedRow[]): Promise<void>;
  /**
   * Removes at most `most` rows from the queue and returns their names: the highest priority first, and of the same
   * priority the oldest.
   */
  deal(on: Transaction, run: number, place: Place, most: number): Promise<readonly string[]>;
  clear(on: Transaction, run: number): Promise<void>;
  close(): Promise<void>;
}

export interface QueuedRow {
  readonly item: string;
  readonly priority: number;
}

/** Runs the statements of pg-boss. */
interface Executor {
  executeSql(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** The part of pg-boss that is used, as version 12 has it. */
interface Boss {
  on(event: 'error', listener: (error: Error) => void): unknown;
  start(): Promise<unknown>;
  stop(options: object): Promise<unknown>;
  createQueue(name: string, options: object): Promise<unknown>;
  insert(name: string, jobs: readonly object[], options: { db: Executor }): Promise<unknown>;
  fetch(name: string, options: object): Promise<readonly { readonly id: string }[]>;
  deleteJob(name: string, ids: string[], options: { db: Executor }): Promise<unknown>;
}

interface BossModule {
  /** The export of version 12. */
  readonly PgBoss?: new (options: object) => Boss;
  /** The export of version 10, whose `insert` takes the queue's name in each job. */
  readonly default?: new (
    options: object,
  ) => Omit<Boss, 'insert'> & { insert(jobs: readonly object[], options: object): Promise<unknown> };
}

/**
 * Opens the queues with the connections of this pool, and creates their schema if it is missing. Used in this way, pg-boss
 * opens no connections, runs no timers, and does not delete or fail jobs.
 *
 * @throws {DatabaseError} if another version of pg-boss has created the queues
 */
export async function openQueue(pool: Pool): Promise<RowQueue> {
  const module = (await import('pg-boss')) as unknown as BossModule;
  const boss = createBoss(module, executing(pool));
  // The calls reject with these errors, so they are handled there.
  boss.on('error', () => undefined);
  await refuseOtherQueue(pool, module.PgBoss === undefined ? 10 : 12);
  await boss.start();
  return {
    async makeQueues(run) {
      const options = { policy: 'standard', retryLimit: 0 };
      for (const place of places) {
        const name = queueOf(run, place);
        await boss.createQueue(name, module.PgBoss === undefined ? { ...options, name } : options);
      }
    },
    async put(on, run, place, items) {
      const jobs = items.map(({ item, priority }) => ({ id: item, priority }));
      if (jobs.length > 0) await boss.insert(queueOf(run, place), jobs, { db: executing(on) });
    },
    async deal(on, run, place, most) {
      if (most < 1) return [];
      // Start times are ignored: no row has one, and the clock of a database may be set back.
      const options = { batchSize: Math.floor(most), ignoreStartAfter: true, db: executing(on) };
      const items = (await boss.fetch(queueOf(run, place), options)).map(({ id }) => id);
      if (items.length > 0) on.withCommit(boss.deleteJob(queueOf(run, place), items, { db: executing(on) }));
      return items;
    },
    async clear(on, run) {
      // In one statement, also of jobs whose rows another program has deleted.
      await on.query(`delete from ${queueSchema}.job where name = any($1::text[])`, [queuesOf(run)]);
    },
    async close() {
      await boss.stop({ graceful: false, wait: false }).catch(() => undefined);
    },
  };
}

export function queuesOf(run: number): string[] {
  return places.map((place) => queueOf(run, place));
}

function queueOf(run: number, place: Place): string {
  return `millrace_${run}_${place}`;
}

function createBoss({ PgBoss: Boss12, default: Boss10 }: BossModule, db: Executor): Boss {
  const options = { db, schema: queueSchema, supervise: false, schedule: false };
  if (Boss12 !== undefined) return new Boss12(options);
  if (Boss10 === undefined)
    throw new DatabaseError('database', 'this version of pg-boss is not supported: npm i pg-boss@10');
  const boss = new Boss10(options);
  const insert = boss.insert.bind(boss);
  return Object.assign(boss, {
    insert: (name: string, jobs: readonly object[], given: { db: Executor }) =>
      insert(
        jobs.map((job) => ({ ...job, name })),
        given,
      ),
  });
}

function executing(on: Queries): Executor {
  return { executeSql: (text, values) => on.query(text, values) };
}

/** The schema versions that each version of pg-boss creates. */
const schemas: Readonly<Record<10 | 12, { readonly from: number; readonly to: number }>> = {
  10: { from: 21, to: 24 },
  12: { from: 25, to: 999 },
};

/**
 * Refuses queues of another version of pg-boss: pg-boss would migrate them to its own version, and workers with the
 * older version would misread them.
 */
async function refuseOtherQueue(pool: Pool, version: 10 | 12): Promise<void> {
  const { rows: found } = await pool.query<{ there: boolean }>(
    `select to_regclass('${queueSchema}.version') is not null as there`,
  );
  if (found[0]?.there !== true) return;
  const { rows } = await pool.query<{ version: number }>(`select version::int from ${queueSchema}.version`);
  const schema = rows[0]?.version ?? 0;
  const { from, to } = schemas[version];
  if (schema >= from && schema <= to) return;
  const other = schema > to ? 12 : 10;
  const message =
    schema > schemas[10].to && version === 12
      ? `has queues of schema ${schema}, which this pg-boss does not know`
      : `has queues that pg-boss ${other} made (schema ${schema}), and this machine has pg-boss ${version}: npm i pg-boss@${other}. To change over, end all runs and drop the schema ${queueSchema}.`;
  throw new DatabaseError('database', `The database ${message}`);
}
