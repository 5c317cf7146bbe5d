import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { settleRow, type SettleOptions, type Settlement } from '../../batch/settle-row.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { UsageError } from '../io/usage-error.js';
import { parseOptions } from '../options/parse-options.js';
import { runFolder } from '../options/run-folder.js';
import { settleOptionsSchema, type SettleOptions as SettleArguments } from '../options/settle-options.js';
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
  const tellFirst = await databaseTeller({ out: folder, id, settlement }, db, io);
  await settleRow(folder, id, settlement, { ...(tellFirst && { tellFirst }) });
  io.stdout.write(`${plainText(id)}: ${words}\n`);
  return 0;
}

/** A run that lives in a database is settled there first: while that is away, nothing is settled. */
async function databaseTeller(
  settled: { out: string; id: string; settlement: Settlement },
  db: string | undefined,
  { env }: CliIo,
): Promise<SettleOptions['tellFirst']> {
  if (!existsSync(join(settled.out, 'distributed.json'))) return undefined;
  const { databaseOfRun } = await import('../../distributed/database-of-run.js');
  const { settleRemote } = await import('../../distributed/settle-remote.js');
  return async (ending) => {
    const database = await databaseOfRun(settled.out, db);
    if (database !== undefined) await settleRemote({ ...settled, ending }, database, env);
  };
}

/** Exactly one of the three ways, and what comes of it. */
function chosen({ job, paid, notSent }: Omit<SettleArguments, 'db'>): {
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
