import { firstValueFrom, Subject } from 'rxjs';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../runners/emulator/index.js';
import { createRunStore } from '../../runners/distributed/store/create-run-store.js';
import type { EndedRow, FedRow, RunState, RunStore } from '../../runners/distributed/store/run-store.js';
import type { RunTerms } from '../../runners/distributed/records/run-terms.js';
import {
  runWorker,
  type WorkerEvent,
  type WorkerOptions,
} from '../../runners/distributed/work/run-worker.js';
import { termsWith, type RunDatabase } from './run-database.js';
import { until } from './until.js';

/** A worker in this process, with connections of its own. */
export interface FleetWorker {
  readonly events: WorkerEvent[];
  /** What it has in hand is done first. */
  stop(): Promise<void>;
  /** As by kill -9: nothing more comes of it. */
  kill(): Promise<void>;
}

/** A run, a service of its own, and workers. */
export interface Fleet {
  readonly store: RunStore;
  readonly run: number;
  readonly emulator: Emulator;
  start(options?: Partial<WorkerOptions>): Promise<FleetWorker>;
  state(): Promise<RunState>;
  /** Once all has ended that was fed. */
  ended(): Promise<readonly EndedRow[]>;
  endings(): Promise<readonly EndedRow[]>;
  close(): Promise<void>;
}

const key = 'the-key-of-the-fleet';
let names = 0;

export async function openFleet(
  database: RunDatabase,
  rows: readonly FedRow[],
  options: { terms?: Partial<RunTerms>; emulator?: EmulatorOptions } = {},
): Promise<Fleet> {
  const emulator = await startEmulator({ key, workers: 200, ...options.emulator });
  const store = createRunStore(database);
  const identity = { baseUrl: emulator.baseUrl, lbBaseUrl: emulator.lbBaseUrl, local: false };
  const { run } = await store.openRun(
    `fleet ${++names} ${process.pid}`,
    termsWith({ identity, ...options.terms }),
  );
  await store.feed(run, rows);
  await store.fedAll(run);
  const workers: FleetWorker[] = [];
  const endings = () => store.collect(run, 0, 1_000_000);
  return {
    ...{ store, run, emulator, endings },
    async start(given = {}) {
      const worker = await startWorker(database, emulator, given);
      workers.push(worker);
      return worker;
    },
    state: () => store.stateOf(run),
    async ended() {
      await until(async () => {
        const { open, inFlight, saving, stop } = await store.stateOf(run);
        return (open === 0 || stop !== undefined) && inFlight + saving === 0;
      });
      return endings();
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await emulator.close();
    },
  };
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
  const work = runWorker({
    ...{ database: connected, apiKey, baseUrl, lbBaseUrl, stop, notify },
    ...given,
    // Who is killed takes no further step.
    onStep: async (step) => {
      await given.onStep?.(step);
      if (isKilled) await firstValueFrom(new Subject());
    },
  }).catch((error: unknown) => notify({ type: 'fault', message: String(error) }));
  return {
    events,
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
      stop.next();
      stop.next();
      await connected.close();
    },
  };
}
