import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { findManifest, outFolder } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { readPrices } from '../options/read-prices.js';
import { runOptionsSchema } from '../options/run-options.js';
import { openTarget } from './open-target.js';
import { spoolInput } from './spool-input.js';
import { attendRun } from './attend-run.js';

/** Does what a manifest asks for, or goes on with it. The price is said, and agreed to, before anything is sent. */
export async function run(
  name: string,
  raw: Readonly<Record<string, unknown>>,
  io: CliIo,
  fault: FaultContext,
): Promise<number> {
  const options = parseOptions(runOptionsSchema, raw);
  const prices = await readPrices(options.prices, io.cwd);
  const given = await findManifest(name, options.format, io);
  const out = outFolder(given, options.out, options.local, io.cwd);
  const target = await openTarget(options, given.folder, io, fault);
  try {
    const source = await spoolInput(given, out, io);
    return await attendRun({ source, out, options, target, prices, io, fault });
  } finally {
    await target.close();
  }
}
