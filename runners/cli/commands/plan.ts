import { resolve } from 'node:path';
import { listPrices } from '../../batch/ledger/list-prices.js';
import type { Plan } from '../../batch/manifest/plan-manifest.js';
import { loadConfig } from '../config/load-config.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { findManifest, type ManifestSource } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { runOptionsSchema, type RunOptions } from '../options/run-options.js';
import { priceTableText } from '../words/price-table-text.js';
import { planJson, planText, priceText } from '../words/plan-text.js';
import type { PlanCheck } from './check-plan.js';
import { planAndSave } from './plan-and-save.js';
import { plannedPrices, planSource, refuseInvalid, refuseSame } from './plan-source.js';

type Raw = Readonly<Record<string, unknown>>;

/**
 * Checks every row of a manifest and prices the run. Sends nothing, and with `--check` nothing that costs. Exit 0, or what
 * the check says; `UsageError` when a row is invalid.
 */
export async function plan(name: string, given: Raw, io: CliIo, fault: FaultContext): Promise<number> {
  const { raw } = await loadConfig(given, name, io);
  const options = parseOptions(runOptionsSchema, raw);
  const prices = await plannedPrices(options, io.cwd);
  const source = await findManifest(name, options.format, io);
  const save = raw['save'];
  const planned =
    typeof save === 'string'
      ? await planAndSave(resolve(io.cwd, save), { raw, source, options, prices }, io)
      : await planSource(source, options, io, prices);
  const checked = await checkIfAsked(planned, { raw, source, options }, io, fault);
  if (options.json) {
    const { name: from, prices: table } = listPrices(prices.table());
    io.stdout.write(
      `${JSON.stringify({ ...planJson(planned), prices: table, priceTable: from, ...checked?.json })}\n`,
    );
  } else if (!options.quiet) {
    const table = `  prices       ${priceTableText(prices.table())}`;
    const price = `  price        ${priceText(planned.cost)}`;
    const lines = [...planText(planned, source.name), table, price, ...(checked?.text ?? [])];
    io.stdout.write(`${lines.join('\n')}\n`);
  }
  refuseInvalid(planned, source, options, io);
  refuseSame(planned.same, options, source.name);
  for (const line of checked?.problems ?? []) io.stderr.write(`${line}\n`);
  return checked?.exitCode ?? 0;
}

/** A manifest that is to be corrected first is not worth a request. */
async function checkIfAsked(
  planned: Plan,
  { raw, source, options }: { raw: Raw; source: ManifestSource; options: RunOptions },
  io: CliIo,
  fault: FaultContext,
): Promise<PlanCheck | undefined> {
  if (raw['check'] !== true || (planned.invalid > 0 && !options.skipInvalid)) return undefined;
  const { checkPlan } = await import('./check-plan.js');
  return checkPlan(source, options, io, fault);
}
