import {
  asyncScheduler,
  defer,
  firstValueFrom,
  interval,
  map,
  retry,
  takeUntil,
  timer,
  type Observable,
} from 'rxjs';
import { resolve } from 'node:path';
import { connectDatabase, type ConnectedDatabase } from '../../distributed/connect-database.js';
import { databaseAddress } from '../../distributed/database/database-address.js';
import { runWorker } from '../../distributed/worker/run-worker.js';
import type { CliIo, CommandCall } from '../io/cli-io.js';
import { listenForStop } from '../io/listen-for-stop.js';
import { UsageError } from '../io/usage-error.js';
import type { OptionsOf } from '../options/option-table.js';
import { commandOptions } from '../options/parse-options.js';
import { openService, pickTransport } from '../service/open-target.js';
import { DatabaseError } from '../../distributed/database/database-error.js';
import { countOf, plainText } from '../messages/plain-text.js';
import type { WorkerEvent } from '../../distributed/worker/worker-options.js';

type WorkerFlags = OptionsOf<'worker'>;

/**
 * Works on the runs of a database until SIGINT or SIGTERM. After the first signal it waits for the answers to its requests on
 * the wire; the second one ends it at once. Exit 0, or the code of the reason that stopped it, such as 4 if the service refuses
 * its key.
 */
export async function workerCommand({ raw, io, fault }: CommandCall): Promise<number> {
  const flags = commandOptions('worker', raw);
  const choice = databaseOf(flags, io);
  const service = await openService(flags, io, fault);
  if ('url' in choice) fault.secrets.push(...databaseAddress(choice.url, io.env).secrets);
  io.beforeRows?.();
  const transport = await pickTransport(flags.http);
  const stops = listenForStop(io);
  const stop = stops.orders$.pipe(map(() => undefined));
  try {
    const connect = () => connectDatabase(choice, { env: io.env, name: 'millrace worker' });
    const database = await awaitDatabase(connect, stop, io);
    if (database === undefined) return 0;
    const reports = reportWork(io, flags, database);
    try {
      const trouble = await runWorker({
        database,
        ...service,
        stop,
        notify: reports.report,
        ...(flags.artifacts !== undefined && { artifacts: resolve(io.cwd, flags.artifacts) }),
        ...(flags.slots !== undefined && { slots: flags.slots }),
        ...(flags.webhookListen && { webhooks: flags.webhookListen }),
        ...(transport && { transport }),
      });
      if (trouble !== undefined) io.stderr.write(`${plainText(trouble.reason, 2000)}\n`);
      return trouble?.exitCode ?? 0;
    } finally {
      reports.close();
      await database.close();
    }
  } finally {
    stops.close();
  }
}

function databaseOf({ db, out }: WorkerFlags, { cwd }: CliIo): { url: string } | { embeddedIn: string } {
  if (db === undefined)
    throw new UsageError(['no database is named: --db postgres://…, or --db embedded with --out']);
  if (db !== 'embedded') {
    if (out !== undefined)
      throw new UsageError(['--out: goes with --db embedded; pictures are saved by --artifacts']);
    return { url: db };
  }
  if (out === undefined) throw new UsageError(["--db embedded needs the run's folder: --out DIR"]);
  return { embeddedIn: resolve(cwd, out) };
}

const retryDatabaseMs = 2_000;

/**
 * Connects to the database; waits for it, because a worker may be started first. Returns `undefined` if it is stopped while it
 * waits.
 */
function awaitDatabase(
  connect: () => Promise<ConnectedDatabase>,
  stop$: Observable<unknown>,
  io: CliIo,
): Promise<ConnectedDatabase | undefined> {
  const delay = (error: unknown, tries: number): Observable<unknown> => {
    if (!(error instanceof DatabaseError) || error.code !== 'database-away') throw error;
    if (tries === 1) io.stderr.write(`warning: ${plainText(error.message, 2000)} Waiting for it.\n`);
    return timer(retryDatabaseMs, io.scheduler ?? asyncScheduler).pipe(takeUntil(stop$));
  };
  return firstValueFrom(defer(connect).pipe(retry({ delay })), { defaultValue: undefined });
}

const reportEveryMs = 30_000;

/** Prints on stderr what a worker does: a line for each event, and its progress every 30 s. */
function reportWork(
  io: CliIo,
  { quiet, webhookListen: listen }: Pick<WorkerFlags, 'quiet' | 'webhookListen'>,
  { shown, warning }: Pick<ConnectedDatabase, 'shown' | 'warning'>,
): { readonly report: (event: WorkerEvent) => void; readonly close: () => void } {
  const print = (text: string) => void io.stderr.write(`${plainText(text, 2000)}\n`);
  const printUnlessQuiet = (text: string) => {
    if (!quiet) print(text);
  };
  if (warning !== undefined) print(`warning: ${warning}`);
  let progress = { submitted: 0, ended: 0 };
  let reported = progress;
  const reporting = interval(reportEveryMs, io.scheduler ?? asyncScheduler).subscribe(() => {
    if (progress !== reported) printUnlessQuiet(progressText(progress));
    reported = progress;
  });
  const report = (event: WorkerEvent): void => {
    if (event.type === 'progress') progress = event;
    else if (event.type === 'started') printUnlessQuiet(`working for ${shown}${calledAt(listen)}`);
    else if (event.type === 'run') printUnlessQuiet(`working on run ${event.run}`);
    else if (event.type === 'back') printUnlessQuiet('the database is back');
    else print(`warning: ${event.message}`);
  };
  return {
    report,
    close: () => {
      reporting.unsubscribe();
      printUnlessQuiet(`left; ${progressText(progress)}`);
    },
  };
}

function calledAt(listen: WorkerFlags['webhookListen']): string {
  return listen === undefined ? '' : `, callbacks are received at ${listen.host}:${listen.port}`;
}

function progressText({ submitted, ended }: { submitted: number; ended: number }): string {
  return `${countOf(submitted, 'request')} sent, ${countOf(ended, 'row')} ended`;
}
