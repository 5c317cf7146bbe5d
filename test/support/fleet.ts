import { NEVER, Subject } from 'rxjs';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../runners/emulator/index.js';
import type { IntentRecord, OutcomeRecord, ReplyRecord } from '../../runners/batch/journal/record.js';
import type { RowTask } from '../../runners/batch/row/row-after.js';
import type { RowRecord } from '../../runners/batch/row/record-head.js';
import { inTransaction, wakeWorkers } from '../../runners/distributed/database/transaction.js';
import { readRecordsAfter } from '../../runners/distributed/table/records.js';
import { addRows, itemAt } from '../../runners/distributed/table/rows.js';
import { lockLedger, saveLedger } from '../../runners/distributed/table/run-ledger.js';
import { readState, type RunState } from '../../runners/distributed/table/run-state.js';
import { recallRun } from '../../runners/distributed/table/recall-run.js';
import { beginStart, makeRun } from '../../runners/distributed/table/runs.js';
import type { RunTerms } from '../../runners/distributed/table/run-terms.js';
import {
  runWorker,
  type WorkerEvent,
  type WorkerOptions,
} from '../../runners/distributed/worker/run-worker.js';
import { createGotTransport } from '../../src/transport/got/got-transport.js';
import type { Transport } from '../../src/transport/transport.js';
import { termsWith, type RunDatabase } from './run-database.js';
import { until } from './until.js';

/** A worker in this process, with connections of its own. */
export interface FleetWorker {
  readonly events: WorkerEvent[];
  /** Resolves to what it ended with, once it has. */
  readonly ended: Promise<number>;
  /** What it has on the wire is done first. */
  stop(): Promise<void>;
  /** As by kill -9: nothing more comes of it. */
  kill(): Promise<void>;
}

/** A row as its records tell of it. */
export interface FleetRow {
  readonly id: string;
  readonly records: readonly RowRecord[];
  readonly intents: readonly IntentRecord[];
  readonly reply?: ReplyRecord | undefined;
  readonly outcome?: OutcomeRecord | undefined;
  /** How it ended: `completed`, the code of a failure, `reply` where its picture is still to be saved; else what it waits for. */
  readonly code: string;
}

/** A run, a service of its own, and workers. */
export interface Fleet {
  readonly run: number;
  readonly emulator: Emulator;
  start(options?: Partial<WorkerOptions>): Promise<FleetWorker>;
  /** Adds rows that wait. */
  feed(rows: readonly RowTask[]): Promise<void>;
  state(): Promise<RunState>;
  /** Once no row is on its way, or the run is stopped and no worker has a row. */
  ended(): Promise<readonly FleetRow[]>;
  rows(): Promise<readonly FleetRow[]>;
  /** All records, in their order. */
  records(): Promise<readonly RowRecord[]>;
  close(): Promise<void>;
}

const key = 'the-key-of-the-fleet';
let names = 0;

export async function openFleet(
  database: RunDatabase,
  rows: readonly RowTask[],
  options: { terms?: Partial<RunTerms>; emulator?: EmulatorOptions } = {},
): Promise<Fleet> {
  const emulator = await startEmulator({ key, workers: 200, ...options.emulator });
  const identity = { baseUrl: emulator.baseUrl, lbBaseUrl: emulator.lbBaseUrl, local: false };
  const run = await makeRun(database, `fleet ${++names} ${process.pid}`);
  const terms = termsWith({ identity, ...options.terms });
  const start = await recallRun(database, run);
  await beginStart(database, { run, start }, terms, { spent: 0, unknown: 0, collected: 0 });
  await feedRows(database, run, rows);
  const workers: FleetWorker[] = [];
  const records = async () =>
    (await readRecordsAfter(database.pool, run, 0, 1_000_000)).map(({ record }) => record);
  const all = async () => rowsIn(await records());
  return {
    run,
    emulator,
    records,
    rows: all,
    async start(given = {}) {
      const worker = await startWorker(database, emulator, given);
      workers.push(worker);
      return worker;
    },
    feed: (more) => feedRows(database, run, more),
    state: () => readState(database, run),
    async ended() {
      await until(async () => {
        const { open, inFlight, stop } = await readState(database, run);
        return inFlight === 0 && (open === 0 || stop !== undefined);
      });
      return all();
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await emulator.close();
    },
  };
}

/** Adds rows of a run that wait. */
export async function feedRows(
  database: Pick<RunDatabase, 'pool' | 'queue'>,
  run: number,
  tasks: readonly RowTask[],
): Promise<void> {
  await inTransaction(database.pool, async (on) => {
    const ledger = await lockLedger(on, run);
    const rows = tasks.map((task, place) => ({ item: itemAt(place), task, reserved: 0 }));
    await addRows({ on, queue: database.queue, run, ledger }, rows);
    await saveLedger(on, run, ledger);
    await wakeWorkers(on, run, 'orders');
  });
}

export function rowsIn(records: readonly RowRecord[]): FleetRow[] {
  const ids = [...new Set(records.map(({ id }) => id))];
  return ids.map((id) => {
    const own = records.filter((record) => record.id === id);
    const intents = own.filter((record) => record.k === 'intent');
    const last = own.at(-1);
    const reply = own.findLast((record) => record.k === 'reply');
    const outcome = own.findLast((record) => record.k === 'outcome');
    const failed = outcome?.status === 'failed' ? outcome.error.code : 'completed';
    const code = last?.k === 'outcome' ? failed : (last?.k ?? '');
    return { id, records: own, intents, reply, outcome, code };
  });
}

async function startWorker(
  database: RunDatabase,
  { baseUrl, lbBaseUrl, apiKey }: Emulator,
  given: Partial<WorkerOptions>,
): Promise<FleetWorker> {
  const connected = await database.connect();
  const stop = new Subject<void>();
  const events: WorkerEvent[] = [];
  const notify = (event: WorkerEvent): void => void events.push(event);
  let hasLeft = false;
  let isKilled = false;
  const transport = given.transport ?? createGotTransport();
  // A killed worker sends nothing more, and hears nothing more.
  const mortal: Transport = (request) => (isKilled ? NEVER : transport(request));
  const work = runWorker({
    database: connected,
    apiKey,
    baseUrl,
    lbBaseUrl,
    stop,
    notify,
    ...given,
    transport: mortal,
  })
    .then((trouble) => trouble?.exitCode ?? 0)
    .catch((error: unknown) => {
      notify({ type: 'fault', message: String(error) });
      return 70;
    });
  return {
    events,
    ended: work,
    async stop() {
      if (hasLeft) return;
      hasLeft = true;
      stop.next();
      await work;
      await connected.close();
    },
    async kill() {
      hasLeft = true;
      isKilled = true;
      // Its connection for notifications never ends by itself.
      void connected.pool.end();
      await Promise.resolve();
    },
  };
}
