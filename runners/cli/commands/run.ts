import type { Plan } from '../../batch/manifest/plan-manifest.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { confirmPrice } from '../options/confirm-price.js';
import { findManifest, outFolder, type ManifestSource } from '../options/find-manifest.js';
import { parseOptions } from '../options/parse-options.js';
import { runOptionsSchema, type RunOptions } from '../options/run-options.js';
import { planText, priceText } from '../words/plan-text.js';
import { openTarget, requireHosts } from './open-target.js';
import { planSource, refuseInvalid } from './plan-source.js';
import { spoolInput } from './spool-input.js';
import { watchRun } from './watch-run.js';

/** Does what a manifest asks for, or goes on with it. The price is said, and agreed to, before anything is sent. */
export async function run(
  name: string,
  raw: Readonly<Record<string, unknown>>,
  io: CliIo,
  fault: FaultContext,
): Promise<number> {
  const options = parseOptions(runOptionsSchema, raw);
  const given = await findManifest(name, options.format, io);
  const out = outFolder(given, options.out, options.local, io.cwd);
  const target = await openTarget(options, given.folder, io, fault);
  try {
    const source = await spoolInput(given, out, io);
    const plan = await planSource(source, options, io);
    refuseInvalid(plan, source, options, io);
    requireHosts(plan, target);
    if (!options.quiet) announce(plan, source, options, io);
    const answer = options.local ? 'go' : await confirmPrice(plan.cost.estimated, options, io);
    if (answer === 'interrupted') return 130;
    return await watchRun({ source, out, options, target, io, fault });
  } finally {
    await target.close();
  }
}

function announce(plan: Plan, source: ManifestSource, options: RunOptions, io: CliIo): void {
  const lines = planText(plan, source.name);
  if (options.local)
    lines.push(`  a rehearsal with the emulator: nothing of the ${priceText(plan)} is spent`);
  io.stderr.write(`${lines.join('\n')}\n`);
}
