import { delay, EMPTY, finalize, merge, NEVER, Observable, Subject, take, tap } from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import {
  runBatch,
  runStages,
  type RunBatchOptions,
  type RunEvent,
  type RunStages,
} from '../../batch/run-batch.js';
import type { HandOn } from '../../batch/context/callback-port.js';
import { createLedger } from '../../batch/ledger/ledger.js';
import type { Run } from '../../batch/context/run.js';
import { RunStream } from '../../batch/context/run-event.js';
import { stopForFault } from '../../batch/stop/exit-of.js';
import { handOnTo } from '../callbacks/called-worker.js';
import type { ConnectedDatabase } from '../connect-database.js';
import { BrokenDatabase, explainDatabase, isAway } from '../database/database-error.js';
import { DatabaseLink } from '../database/database-link.js';
import { openCollector, type Collector } from './open-collector.js';
import type { Ask } from './remote-run.js';
import { workElsewhere } from './work-elsewhere.js';

export interface DistributedOptions {
  /** Connects to the database. Called after the manifest is checked and the folder is locked. */
  readonly connect: () => Promise<ConnectedDatabase>;
  /** The command that starts a worker, for the warning that rows wait without a worker. */
  readonly workerCommand?: string;
}

/** Rows in flight over all workers, if `concurrency` is not given. */
const usualConcurrency = 8;

/**
 * Like `runBatch`, but other processes do the work: rows go into a database, workers on any number of machines take them
 * from there, and their records come back into the same folder and files. Closes the database connection at the end.
 *
 * @throws {MillraceError} `usage` for options that do not go with workers.
 */
export function runDistributed(
  options: RunBatchOptions,
  { connect, workerCommand }: DistributedOptions,
  stages: RunStages = runStages,
): RunStream {
  const { concurrency = usualConcurrency, rate, webhooks } = options;
  if (rate === 'runpod')
    throw new MillraceError(
      'usage',
      '--rate runpod cannot be used with --db: give the requests a second for all workers',
    );
  // Warnings that arise before the run is open.
  const warnings = new Subject<RunEvent>();
  const warn = (message: string) => warnings.next({ type: 'warning', code: 'workers', message });
  let collector: Collector | undefined;
  let handOn: HandOn | undefined;
  const settled: RunBatchOptions = {
    ...options,
    concurrency,
    // Callbacks are passed on, because workers have the rows.
    ...(webhooks && { webhooks: { ...webhooks, handOn: (callback) => handOn?.(callback) ?? EMPTY } }),
    journal: async (out) => {
      collector = await openCollector(out, { ...options, warn, stop: options.stop ?? NEVER }, connect);
      return collector.journal;
    },
    // The database decides what fits under the caps, so this ledger must accept all that was bought there.
    ledger: (given) => createLedger({ ...given, isDecidedElsewhere: true }),
  };
  const buyRows: RunStages['buyRows'] = (run, tasks) => {
    if (collector === undefined) return new Observable((subscriber) => subscriber.complete());
    const { database } = collector;
    const over = new Subject<void>();
    return workElsewhere(run, tasks, {
      ...collector,
      terms: { concurrency, ...(rate !== undefined && { rate }) },
      ask: askUntilBack(run, over),
      workerCommand,
      begun: (number) => (handOn = handOnTo(database.pool, number)),
    }).pipe(finalize(() => over.next()));
  };
  const savePictures: RunStages['savePictures'] = (run) => (paid) => {
    // Workers would go on without this process.
    const stop = (error: unknown) => stopForFault(run.stops, error);
    return stages
      .savePictures(run)(paid)
      .pipe(tap({ error: stop }));
  };
  const events = runBatch(settled, { ...stages, buyRows, savePictures }).pipe(
    finalize(() => warnings.complete()),
  );
  return new RunStream(merge(warnings, events), () => undefined);
}

/** How long a stopping run waits for a database that is away: workers go on until its stop is there. */
const stopMs = 10_000;

/** A query that the run's stop cuts short fails as if the database were away. */
function askUntilBack({ stops, options, events }: Run, over: Observable<unknown>): Ask {
  const warn = (message: string) => events.next({ type: 'warning', code: 'database', message });
  const { scheduler, random } = options;
  const link = new DatabaseLink({
    shown: 'of the run',
    scheduler,
    random,
    cut: merge(stops.left('sent'), over, stops.left('accepted').pipe(delay(stopMs, scheduler))).pipe(take(1)),
    notify: (event) => warn(event.type === 'away' ? event.message : 'The database is back.'),
  });
  return (question) =>
    link.insist(question).catch((error: unknown) => {
      throw isAway(error) ? explainDatabase(error, 'of the run') : asFailed(error);
    });
}

/** An error of PostgreSQL that does not pass: somebody has changed the tables, or what the user may do. */
function asFailed(error: unknown): unknown {
  const isOfDatabase = error instanceof Error && 'severity' in error;
  return isOfDatabase ? new BrokenDatabase(error, 'of the run') : error;
}
