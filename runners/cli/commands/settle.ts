import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { settleRow, type Settlement } from '../../batch/settle-row.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { UsageError } from '../io/usage-error.js';
import { parseOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { settleOptionsSchema, type SettleOptions } from '../options/settle-options.js';
import { formatMoney } from '../words/amounts.js';
import { plainText } from '../words/plain-text.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';

/** Ends by hand the doubt about a row that may have been bought. Sends nothing. */
export async function settle(
  name: string,
  id: string,
  raw: Readonly<Record<string, unknown>>,
  io: CliIo,
  fault: FaultContext,
): Promise<number> {
  const { db, ...options } = parseOptions(settleOptionsSchema, raw);
  const { settlement, words } = chosen(options);
  const folder = await runFolder(name, io);
  fault.folder = folder;
  await settleRow(folder, id, settlement);
  await tellDatabase(folder, id, settlement, db, io);
  io.stdout.write(`${plainText(id)}: ${words}\n`);
  return 0;
}

/** What the journal knows is settled: a database that cannot be told goes on holding the row's money. */
async function tellDatabase(
  folder: string,
  id: string,
  settlement: Settlement,
  db: string | undefined,
  io: CliIo,
): Promise<void> {
  if (!existsSync(join(folder, 'distributed.json'))) return;
  const { databaseOfRun } = await import('../../distributed/database-of-run.js');
  const { settleRemote } = await import('../../distributed/settle-remote.js');
  const database = await databaseOfRun(folder, db);
  if (database === undefined) return;
  await settleRemote(folder, id, settlement, database, io.env).catch((error: unknown) => {
    const why = plainText((error as Error).message, 500);
    io.stderr.write(
      `warning: it is settled, and the database could not be told: its cap goes on counting what is held. ${why}\n`,
    );
  });
}

/** Exactly one of the three ways, and what comes of it. */
function chosen({ job, paid, notSent }: Omit<SettleOptions, 'db'>): {
  settlement: Settlement;
  words: string;
} {
  const ways = [
    job !== undefined && {
      settlement: { jobId: job },
      words: `job ${plainText(job)} is asked for when the run goes on`,
    },
    paid !== undefined && {
      settlement: { paidUsd: paid },
      words: `ended as expired at ${formatMoney(toMicroDollars(paid))}`,
    },
    notSent && { settlement: { notSent: true as const }, words: 'is sent when the run goes on' },
  ].filter((way) => way !== false);
  const [way] = ways;
  if (way !== undefined && ways.length === 1) return way;
  throw new UsageError(['say how the row ended, by one of --job ID, --paid USD and --not-sent']);
}
