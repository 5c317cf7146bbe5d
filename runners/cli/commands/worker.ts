import { ReplaySubject } from 'rxjs';
import { resolve } from 'node:path';
import * as z from 'zod';
import { connectDatabase } from '../../distributed/connect-database.js';
import { databaseAddress } from '../../distributed/database/database-address.js';
import { runWorker } from '../../distributed/work/run-worker.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { UsageError } from '../io/usage-error.js';
import { optionValue } from '../options/option-value.js';
import { parseOptions } from '../options/parse-options.js';
import { readApiKey } from '../options/read-api-key.js';
import { serviceSettings } from '../options/service-settings.js';
import { awaitDatabase } from './await-database.js';
import { pickTransport } from './pick-transport.js';
import { tellWork } from './tell-work.js';

const workerOptionsSchema = z.object({
  db: optionValue.database().optional(),
  out: z.string().min(1, 'is empty: name a folder').optional(),
  baseUrl: optionValue.host().optional(),
  lbBaseUrl: optionValue.host().optional(),
  apiKeyFile: z.string().optional(),
  artifacts: z.string().min(1, 'is empty: name a folder').optional(),
  slots: optionValue.wholeNumber(1, 10_000).optional(),
  http: optionValue.oneOf('got', 'undici').default('got'),
  quiet: z.boolean().default(false),
});

type WorkerFlags = z.output<typeof workerOptionsSchema>;

/**
 * One more machine for the runs of a database, until SIGINT or SIGTERM: the first ends it once what is on the wire is
 * done, the second at once. Exit 0.
 */
export async function worker(
  raw: Readonly<Record<string, unknown>>,
  io: CliIo,
  fault: FaultContext,
): Promise<number> {
  const flags = parseOptions(workerOptionsSchema, raw);
  const choice = databaseOf(flags, io);
  const { warnings, ...hosts } = serviceSettings(flags, io.env);
  if (hosts.baseUrl === undefined && hosts.lbBaseUrl === undefined)
    throw new UsageError(['no service is named: neither --base-url nor MILLRACE_BASE_URL is set']);
  const { key, warning } = await readApiKey(flags.apiKeyFile, io);
  fault.secrets.push(key);
  if ('url' in choice) fault.secrets.push(...databaseAddress(choice.url, io.env).secrets);
  for (const text of [...warnings, ...(warning === undefined ? [] : [warning])]) io.stderr.write(`${text}\n`);
  io.beforeRows?.();
  const transport = await pickTransport(flags.http);
  const stop = new ReplaySubject<void>();
  const ignore = io.onStop(() => stop.next());
  try {
    const connect = () => connectDatabase(choice, { env: io.env, name: 'millrace worker' });
    const database = await awaitDatabase(connect, stop, io);
    if (database === undefined) return 0;
    const told = tellWork(io, flags.quiet, database);
    try {
      await runWorker({
        ...{ database, apiKey: key, ...hosts, stop, tell: told.tell },
        ...(flags.artifacts !== undefined && { artifacts: resolve(io.cwd, flags.artifacts) }),
        ...(flags.slots !== undefined && { slots: flags.slots }),
        ...(transport && { transport }),
      });
    } finally {
      told.close();
      await database.close();
    }
    return 0;
  } finally {
    ignore();
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
