import type { CliIo } from '../io/cli-io.js';
import { findManifest } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { runOptionsSchema } from '../options/run-options.js';
import { planJson, planText, priceText } from '../words/plan-text.js';
import { planSource, refuseInvalid } from './plan-source.js';

/** Checks every row of a manifest and prices the run. Sends nothing. Exit 0; `UsageError` when a row is invalid. */
export async function plan(name: string, raw: Readonly<Record<string, unknown>>, io: CliIo): Promise<number> {
  const options = parseOptions(runOptionsSchema, raw);
  const source = await findManifest(name, options.format, io);
  const planned = await planSource(source, options, io);
  if (options.json) io.stdout.write(`${JSON.stringify(planJson(planned))}\n`);
  else if (!options.quiet)
    io.stdout.write(
      `${[...planText(planned, source.name), `  price        ${priceText(planned.cost)}`].join('\n')}\n`,
    );
  refuseInvalid(planned, source, options, io);
  return 0;
}
