import { Observable } from 'rxjs';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { runBatch, runStages, type RunBatchOptions, type RunStages } from '../../batch/run-batch.js';
import type { Run } from '../../batch/context/run.js';
import type { RunStream } from '../../batch/context/run-stream.js';
import type { ConnectedDatabase } from '../connect-database.js';
import { explainDatabase, isAway } from '../database/database-error.js';
import { DatabaseLink } from '../database/database-link.js';
import { type MoneyApart, createSharedLedger, type SharedLedger } from './shared-ledger.js';
import { openCollector, type Collector } from './open-collector.js';
import type { Ask } from './remote-run.js';
import { workElsewhere } from './work-elsewhere.js';

export interface DistributedOptions {
  /** Connects to the database, called once the manifest is checked and the folder is locked. */
  readonly connect: () => Promise<ConnectedDatabase>;
}

/** Rows in flight over all workers, when `concurrency` is not given. */
const usualConcurrency = 8;

/**
 * Like `runBatch`, but other processes do the work: rows go into a database, workers on any number of machines take them
 * from there, and the results come back into the same folder and files. Closes the database connection at the end.
 *
 * @throws {MillraceError} `usage` for options that do not go with workers.
 */
export function runDistributed(
  options: RunBatchOptions,
  { connect }: DistributedOptions,
  stages: RunStages = runStages,
): RunStream {
  const { concurrency = usualConcurrency, rate } = obeyable(options);
  let collector: Collector | undefined;
  let ledger: SharedLedger | undefined;
  let apart: MoneyApart = nothing;
  const settled: RunBatchOptions = {
    ...options,
    concurrency,
    journal: async (out) => {
      collector = await openCollector(out, options, connect);
      return collector.journal;
    },
    ledger: ({ capUsd }) => {
      apart = collector?.apart ?? nothing;
      ledger = createSharedLedger(apart, { ...(capUsd !== undefined && { capUsd }) });
      return ledger;
    },
  };
  const buyRows: RunStages['buyRows'] = (run, tasks) => {
    if (collector === undefined || ledger === undefined)
      return new Observable((subscriber) => subscriber.complete());
    const { store, note, keepNote } = collector;
    return workElsewhere({
      store,
      ask: askUntilBack(run),
      ledger,
      rate,
      apart: sumOf(apart),
      note,
      keepNote,
    })(run, tasks);
  };
  return runBatch(settled, { ...stages, buyRows });
}

/** A question that the run's stop cuts short fails as a database that is away. */
function askUntilBack({ stops, options, events }: Run): Ask {
  const warn = (message: string) => events.next({ type: 'warning', code: 'database', message });
  const { scheduler, random } = options;
  const link = new DatabaseLink({
    ...{ shown: 'of the run', scheduler, random, cut: stops.left('accepted') },
    notify: (event) => warn(event.type === 'away' ? event.message : 'The database is back.'),
  });
  return (question) =>
    link.insist(question).catch((error: unknown) => {
      throw isAway(error) ? explainDatabase(error, 'of the run') : error;
    });
}

const nothing = { spent: 0, unknown: 0, reserved: [] };

function sumOf({ spent, unknown, reserved }: MoneyApart): MicroDollars {
  return spent + unknown + reserved.reduce((sum, [, price]) => sum + (price ?? 0), 0);
}

function obeyable({ concurrency, rate, maxCostPerDayUsd, ledgerFile }: RunBatchOptions) {
  if (concurrency === 'auto')
    throw refused('--concurrency auto', 'say how many rows may be in flight over all workers');
  if (rate === 'runpod') throw refused('--rate runpod', 'say so many requests a second over all workers');
  if (maxCostPerDayUsd !== undefined || ledgerFile !== undefined)
    throw refused(
      'a cap of a day (--max-cost-per-day, --ledger)',
      'its ledger is a file of one machine; --max-cost holds over all workers',
    );
  return { concurrency, rate };
}

function refused(what: string, instead: string): MillraceError {
  return new MillraceError('usage', `${what} does not go with --db: ${instead}`);
}
