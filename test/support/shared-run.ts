import { Subject } from 'rxjs';
import { PassThrough } from 'node:stream';
import type { RunBatchOptions } from '../../runners/batch/run-batch.js';
import { runCli } from '../../runners/cli/run-cli.js';
import { runDistributed } from '../../runners/distributed/collector/run-distributed.js';
import { connectDatabase, type ConnectedDatabase } from '../../runners/distributed/connect-database.js';
import { runWorker, type WorkerOptions } from '../../runners/distributed/worker/run-worker.js';
import { startEmulator, type Emulator, type EmulatorOptions } from '../../runners/emulator/index.js';
import { openDatabase, type TestDatabase } from './database.js';
import { finished, runFolder, type Finished, type RunFolder } from './run-folder.js';
import { stuckAt, type Step } from './stuck-transport.js';
import { anHourPasses } from './time-passes.js';
import { until } from './until.js';

/** A worker that stops dead at a step of its first row. */
export interface StuckWorker {
  /** Resolves when it is stuck. */
  readonly isStuck: Promise<void>;
  /** It is taken for dead. */
  passAway(): Promise<void>;
  /** It comes back. */
  goOn(): void;
  /** What it has in hand is done first. */
  stop(): Promise<void>;
}

/** A run's folder, a service, and a database that workers and collectors of this process share. */
export interface SharedRun {
  readonly folder: RunFolder;
  readonly emulator: Emulator;
  /** Where the database is, with its password. */
  readonly url: string;
  work(options?: Partial<WorkerOptions>): Promise<() => Promise<void>>;
  workUntil(step: Step): Promise<StuckWorker>;
  /** A start of the run, to its end. */
  collect(options?: Partial<RunBatchOptions>): Promise<Finished>;
  /** Calls the command line. */
  call(...argv: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  close(): Promise<void>;
}

/** @param database dropped at its end by who opened it; without one, the run has one of its own */
export async function openSharedRun(given?: TestDatabase, service: EmulatorOptions = {}): Promise<SharedRun> {
  const database = given ?? (await openDatabase());
  const emulator = await startEmulator({ key: 'the-key-of-a-fleet', workers: 50, ...service });
  const folder = runFolder();
  const connect = () => connectDatabase({ url: database.url });
  const closing: (() => Promise<unknown>)[] = [];
  const { apiKey, baseUrl, lbBaseUrl } = emulator;
  const work = async (options: Partial<WorkerOptions> = {}) => {
    const stop = startWorker(await connect(), { apiKey, baseUrl, lbBaseUrl, ...options });
    closing.push(stop);
    return stop;
  };
  return {
    folder,
    emulator,
    url: database.url,
    work,
    async workUntil(step) {
      const { transport, isStuck, goOn } = stuckAt(step);
      let name = '';
      const stop = await work({
        transport,
        notify: (event) => {
          if (event.type === 'started') name = event.worker;
        },
      });
      closing.unshift(() => Promise.resolve(goOn()));
      return {
        isStuck,
        stop,
        goOn,
        async passAway() {
          const own = await connect();
          await until(() => name !== '');
          await anHourPasses(own, [name]).finally(() => own.close());
        },
      };
    },
    collect(options = {}) {
      const manifest = { path: folder.path + '/manifest.jsonl' };
      const given = { manifest, out: folder.out, apiKey, baseUrl, lbBaseUrl, ...options };
      return finished(runDistributed(given, { connect }));
    },
    call: (...argv) => call(argv, folder.path),
    async close() {
      for (const close of closing.splice(0)) await close();
      await emulator.close();
      if (given === undefined) await database.close();
      folder.remove();
    },
  };
}

function startWorker(
  database: ConnectedDatabase,
  options: Omit<WorkerOptions, 'database' | 'stop'>,
): () => Promise<void> {
  const stop = new Subject<void>();
  const work = runWorker({ ...options, database, stop });
  let ended: Promise<void> | undefined;
  return () => {
    ended ??= (async () => {
      stop.next();
      await work;
      await database.close();
    })();
    return ended;
  };
}

async function call(argv: readonly string[], cwd: string) {
  const [stdout, stderr] = [new PassThrough({ encoding: 'utf8' }), new PassThrough({ encoding: 'utf8' })];
  const code = await runCli(argv, {
    stdin: new PassThrough(),
    stdout,
    stderr,
    env: {},
    cwd,
    onStop: () => () => undefined,
    onFault: () => undefined,
  });
  return { code, stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') };
}
