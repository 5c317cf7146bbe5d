import { nodeDisk } from '../../batch/disk/node-disk.js';
import { refuseFolder } from '../../batch/start/check/refuse-folder.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { UsageError } from '../io/usage-error.js';
import { findManifest, outFolder } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { readPrices } from '../options/read-prices.js';
import { runOptionsSchema } from '../options/run-options.js';
import { openPlan } from '../saved-plan/open-plan.js';
import type { SavedPlan } from '../saved-plan/read-plan.js';
import { followRows } from './follow-rows.js';
import { heldToPlan } from './held-to-plan.js';
import { openTarget } from './open-target.js';
import { spoolInput } from './spool-input.js';
import { attendRun } from './attend-run.js';

/** Does what a manifest asks for, or goes on with it. The price is said, and agreed to, before anything is sent. */
export async function run(
  name: string | undefined,
  given: Readonly<Record<string, unknown>>,
  io: CliIo,
  fault: FaultContext,
): Promise<number> {
  const { raw, plan } = await openPlan(name, given, io);
  const options = parseOptions(runOptionsSchema, raw);
  const prices = await readPrices(options.prices, io.cwd, options.endpoints);
  if (options.follow) return followRows(name, { options, prices, io, fault });
  const manifest = await findManifest(manifestName(name, plan), options.format, io);
  const out = outFolder(manifest, options.out, options.local, io.cwd);
  const target = await openTarget(options, manifest.folder, io, fault);
  try {
    await refuseFolder(nodeDisk, out);
    const { source, discard } = await spoolInput(manifest, out, io);
    const started = { source, out, options, target, prices, io, fault };
    return await attendRun(plan === undefined ? started : await heldToPlan(started, plan)).finally(discard);
  } finally {
    await target.close();
  }
}

function manifestName(given: string | undefined, plan: SavedPlan | undefined): string {
  const name = given ?? plan?.head.manifest.path;
  if (typeof name === 'string') return name;
  throw new UsageError(['no manifest is named: millrace run <manifest>, or --plan with a saved plan of one']);
}
