import type { Pool } from 'pg';
import type { RowFacts } from '../../runners/batch/row/task.js';
import type { RowTask } from '../../runners/batch/row/row-after.js';
import { databaseAddress } from '../../runners/distributed/database/database-address.js';
import { makeTables } from '../../runners/distributed/database/make-tables.js';
import { openPool } from '../../runners/distributed/database/open-pool.js';
import { openQueue } from '../../runners/distributed/queue/row-queue.js';
import type { RunDatabase as Database } from '../../runners/distributed/table/run-ledger.js';
import type { Group, NextGroup } from '../../runners/distributed/table/commit-group.js';
import type { RunTerms } from '../../runners/distributed/table/run-terms.js';
import { openDatabase } from './database.js';

/** A database with millrace's schema and queues, and connections to it. */
export interface RunDatabase extends Database {
  readonly url: string;
  /** More connections, as of another process; to the server they are named `elsewhere`. */
  connect(): Promise<Database & { close(): Promise<void> }>;
  close(): Promise<void>;
}

export async function openRunDatabase(): Promise<RunDatabase> {
  const server = await openDatabase();
  const pool = await poolOf(server.url);
  const queue = await makeTables(pool, () => openQueue(pool));
  const pools: Pool[] = [];
  return {
    url: server.url,
    pool,
    queue,
    async connect() {
      const more = await poolOf(server.url, 'elsewhere');
      pools.push(more);
      return { pool: more, queue: await openQueue(more), close: () => more.end() };
    },
    async close() {
      for (const open of [pool, ...pools]) if (!open.ended) await open.end();
      await server.close();
    },
  };
}

/** As a worker opens its own: the driver throws an error into the process where a connection ends unheard. */
async function poolOf(url: string, name = 'here'): Promise<Pool> {
  return (await openPool(databaseAddress(url, {}), { max: 6, name })).pool;
}

/** Terms of a run of jobs on `echo` that cost 0.10 dollars each. */
export function termsWith(terms: Partial<RunTerms> = {}): RunTerms {
  return {
    identity: { baseUrl: 'http://127.0.0.1:1', lbBaseUrl: '', local: false },
    concurrency: 8,
    timeoutMs: 60_000,
    runsyncTimeoutMs: 5_000,
    executionTimeoutsMs: {},
    retries: 4,
    onUnknown: 'hold',
    pollCostMs: 20,
    download: true,
    endpoints: ['echo'],
    hasRoutes: false,
    prices: { name: 'test', edit: {}, endpoints: [['echo', { perJob: 100_000 }]], route: null },
    ...terms,
  };
}

/** A worker's group of this number, empty but for `parts`. */
export function groupOf(number: number, parts: Partial<Group>): NextGroup {
  const nothing = { records: [], hasFailed: false, ended: [], freed: [], jobs: [], claim: undefined };
  return {
    known: { groups: number - 1, seq: 0 },
    draw: () => ({ ...nothing, ...parts }),
    answer: () => Promise.resolve([]),
  };
}

/** So many rows of a run, `r1` first. */
export function rowsOf(count: number, input: Record<string, unknown> = {}): RowTask[] {
  return Array.from({ length: count }, (_, index) => ({
    what: 'send',
    row: factsAt(index + 1, input),
    attempts: 0,
  }));
}

function factsAt(row: number, input: Record<string, unknown>): RowFacts {
  return {
    id: `r${row}`,
    row,
    hash: 'h',
    kind: 'job',
    endpoint: 'echo',
    mode: 'async',
    request: { kind: 'job', input: { n: row, ...input } },
    cells: { id: `r${row}` },
    columns: {},
  };
}
