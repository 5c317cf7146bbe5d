import { databaseAddress } from '../../distributed/database/database-address.js';
import { runDistributed } from '../../distributed/collector/run-distributed.js';
import { connectDatabase } from '../../distributed/connect-database.js';
import { shellWords } from '../../batch/formats.js';
import type { runBatch } from '../../batch/index.js';
import type { StartedRun } from './batch-options.js';

/**
 * Runs over a database. It connects at once, so that a wrong address is reported before the question about the price. An
 * embedded database starts once the run's folder exists.
 */
export async function overDatabase(
  { out, target, io, fault }: StartedRun,
  db: string,
  warn: (message: string) => void,
): Promise<typeof runBatch> {
  if (target.local)
    warn(
      `workers reach the emulator with MILLRACE_BASE_URL=${target.baseUrl}, MILLRACE_LB_BASE_URL=${target.lbBaseUrl}, MILLRACE_API_KEY=${target.apiKey}`,
    );
  const settings = { env: io.env, name: 'millrace run', max: 6 };
  if (db === 'embedded') {
    const workerCommand = commandOfWorker(target, ['embedded', '--out', out, '--artifacts', out]);
    return (given, stages) => {
      const connect = () => connectDatabase({ embeddedIn: out }, { ...settings, repair: given.repair });
      return runDistributed(given, { connect, workerCommand }, stages);
    };
  }
  fault.secrets.push(...databaseAddress(db, io.env).secrets);
  const connected = await connectDatabase({ url: db }, settings);
  if (connected.warning !== undefined) warn(connected.warning);
  let isTaken = false;
  return (given, stages) => {
    const connect = () => {
      if (isTaken) return connectDatabase({ url: db }, settings);
      isTaken = true;
      return Promise.resolve(connected);
    };
    // Without the password: the worker reads it from PGPASSWORD or ~/.pgpass.
    const workerCommand = commandOfWorker(target, [connected.shown.replace(':***@', '@')]);
    return runDistributed(given, { connect, workerCommand }, stages);
  };
}

function commandOfWorker({ baseUrl, lbBaseUrl }: StartedRun['target'], database: readonly string[]): string {
  const hosts = [
    ...(baseUrl === undefined ? [] : ['--base-url', baseUrl]),
    ...(lbBaseUrl === undefined ? [] : ['--lb-base-url', lbBaseUrl]),
  ];
  return shellWords('millrace', 'worker', '--db', ...database, ...hosts);
}
