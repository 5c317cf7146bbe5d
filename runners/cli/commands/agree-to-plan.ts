import type { Plan } from '../../batch/manifest/plan-manifest.js';
import type { Ahead } from '../../batch/run/ahead.js';
import { confirmPrice } from '../options/confirm-price.js';
import { aheadText } from '../words/ahead-text.js';
import { planText } from '../words/plan-text.js';
import type { StartedRun } from './batch-options.js';
import { requireHosts } from './open-target.js';
import { refuseInvalid, refuseMissing } from './plan-source.js';

/**
 * Shows what a start is about to do and what it costs, and asks where that is due. Nothing has been sent yet. Throws
 * `UsageError` where the run is not to start. `stopped` interrupts the question.
 */
export async function agreeToPlan(
  plan: Plan,
  ahead: Ahead,
  run: StartedRun,
  stopped: AbortSignal,
): Promise<'go' | 'interrupted'> {
  const { io, options, source, target } = run;
  refuseInvalid(plan, source, options, io);
  refuseMissing(ahead.missing);
  requireHosts(plan, target);
  if (!options.quiet) {
    const lines = [...planText(plan, source.name), ...aheadText(ahead, options.local)];
    io.stderr.write(`${lines.join('\n')}\n`);
  }
  return options.local ? 'go' : confirmPrice(ahead.price.estimated, options, io, stopped);
}
