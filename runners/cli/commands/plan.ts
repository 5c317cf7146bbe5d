import { resolve } from 'node:path';
import { listPrices } from '../../batch/ledger/list-prices.js';
import type { CliIo } from '../io/cli-io.js';
import { findManifest } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { runOptionsSchema } from '../options/run-options.js';
import { priceTableText } from '../words/price-table-text.js';
import { planJson, planText, priceText } from '../words/plan-text.js';
import { planAndSave } from './plan-and-save.js';
import { plannedPrices, planSource, refuseInvalid } from './plan-source.js';

/** Checks every row of a manifest and prices the run. Sends nothing. Exit 0; `UsageError` when a row is invalid. */
export async function plan(name: string, raw: Readonly<Record<string, unknown>>, io: CliIo): Promise<number> {
  const options = parseOptions(runOptionsSchema, raw);
  const prices = await plannedPrices(options, io.cwd);
  const source = await findManifest(name, options.format, io);
  const save = raw['save'];
  const planned =
    typeof save === 'string'
      ? await planAndSave(resolve(io.cwd, save), { raw, source, options, prices }, io)
      : await planSource(source, options, io, prices);
  if (options.json) {
    const { name: from, prices: table } = listPrices(prices.table());
    io.stdout.write(`${JSON.stringify({ ...planJson(planned), prices: table, priceTable: from })}\n`);
  } else if (!options.quiet) {
    const table = `  prices       ${priceTableText(prices.table())}`;
    const lines = [...planText(planned, source.name), table, `  price        ${priceText(planned.cost)}`];
    io.stdout.write(`${lines.join('\n')}\n`);
  }
  refuseInvalid(planned, source, options, io);
  return 0;
}
