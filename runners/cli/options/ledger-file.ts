import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { dayLedgerPath } from '../../batch/ledger/day-ledger-path.js';
import type { CliIo } from '../io/cli-io.js';
import type { RunOptions } from './run-options.js';

/** The ledger that runs share, where this run has part in one. What a rehearsal spends is kept apart from real money. */
export function ledgerFile(
  { ledger, maxCostPerDay, local }: Pick<RunOptions, 'ledger' | 'maxCostPerDay' | 'local'>,
  { cwd, env }: Pick<CliIo, 'cwd' | 'env'>,
): string | undefined {
  if (ledger !== undefined) return resolve(cwd, ledger);
  if (maxCostPerDay === undefined) return undefined;
  const path = dayLedgerPath(env, process.platform, homedir());
  return local ? path.replace(/\.jsonl$/, '.local.jsonl') : path;
}
