import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { findManifest } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { runOptionsSchema } from '../options/run-options.js';
import { invalidText, planJson, planText } from '../words/plan-text.js';
import { countOf } from '../words/amounts.js';
import { planSource } from './plan-source.js';

/** Checks every row of a manifest and prices the run. Sends nothing. Exit 0, or 2 when a row is invalid. */
export async function plan(name: string, raw: Readonly<Record<string, unknown>>, io: CliIo): Promise<number> {
  const options = parseOptions(runOptionsSchema, raw);
  const source = await findManifest(name, options.format, io);
  const planned = await planSource(source, options, io);
  const refused = planned.invalid > 0 && !options.skipInvalid;
  for (const line of invalidText(planned, source.name)) io.stderr.write(`${line}\n`);
  if (options.json) io.stdout.write(`${JSON.stringify(planJson(planned))}\n`);
  else if (!options.quiet) io.stdout.write(`${planText(planned, source.name).join('\n')}\n`);
  if (refused) {
    io.stderr.write(
      `error: ${countOf(planned.invalid, 'invalid row')}; correct them, or leave them out with --skip-invalid\n`,
    );
  }
  return refused ? 2 : 0;
}
