import type { Plan } from '../../batch/manifest/plan-manifest.js';
import type { Ahead } from '../../batch/start/check/ahead.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { confirmPrice, confirmSame, type Stake } from '../options/confirm-price.js';
import { aheadText } from '../words/ahead-text.js';
import { planText, priceText } from '../words/plan-text.js';
import { UsageError } from '../io/usage-error.js';
import type { SavedPlan } from '../saved-plan/read-plan.js';
import { refusePricedRows } from './agreed-rows.js';
import type { StartedRun } from './batch-options.js';
import { firstRunNote } from './first-run-note.js';
import { requireHosts } from './open-target.js';
import { refuseInvalid, refuseMissing, refuseSame } from './plan-source.js';

/** What the check of a manifest brought to light. Nothing has been sent yet. */
export interface CheckedRun {
  readonly plan: Plan;
  readonly ahead: Ahead;
}

/**
 * Shows what a start is about to do and what it costs, and asks where that is due. Throws `UsageError` where the run is
 * not to start. `stopped` interrupts the question.
 */
export async function agreeToPlan(
  { plan, ahead }: CheckedRun,
  { io, options, source, out, live, target, prices, plan: saved }: StartedRun,
  stopped: AbortSignal,
): Promise<'go' | 'interrupted'> {
  if (live !== undefined) {
    const isCapped = ahead.cap !== undefined || options.maxCostPerDay !== undefined;
    if (!isCapped && !options.yes && !options.local) refusePricedRows(options, prices);
    if (!options.quiet) io.stderr.write(followText(isCapped, options));
    return 'go';
  }
  refuseInvalid(plan, source, options, io);
  requireHosts(plan, target);
  refuseSame(ahead.same, options, source.name);
  if (saved !== undefined) refuseDearer(ahead, saved);
  if (!options.quiet) {
    const note = await firstRunNote(source.path, out, io.cwd);
    const lines = [...planText(plan, source.name), ...aheadText(ahead, options.local), ...note];
    io.stderr.write(`${lines.join('\n')}\n`);
  }
  if (options.local) return 'go';
  const answer = await confirmSame(ahead.same, options, io, stopped);
  if (answer !== 'go') return answer;
  return confirmPrice(stakeOf(ahead, options), consentOf(ahead, options), io, stopped);
}

/** What a start may buy: rows that fit under the cap of the run, and no more than the cap of a day. */
function stakeOf({ fits, price }: Ahead, { maxCostPerDay }: StartedRun['options']): Stake {
  const { unpriced } = price;
  if (maxCostPerDay === undefined) return { estimated: fits.estimated, unpriced };
  return { estimated: Math.min(fits.estimated, toMicroDollars(maxCostPerDay)), unpriced };
}

function consentOf(
  { cap }: Ahead,
  { yes, maxCostPerDay }: StartedRun['options'],
): { yes: boolean; isCapped: boolean } {
  return { yes, isCapped: cap !== undefined || maxCostPerDay !== undefined };
}

/** Says in the words of the command line why a run was not started. Throws `UsageError`, or leaves it to the runner's own words. */
export function explainRefusal(
  { plan, ahead }: CheckedRun,
  { io, options, source, target }: StartedRun,
): void {
  refuseInvalid(plan, source, options, io);
  refuseMissing(ahead.missing);
  refuseSame(ahead.same, options, source.name);
  requireHosts(plan, target);
}

function followText(isCapped: boolean, { local, yes }: StartedRun['options']): string {
  const isOpen = !local && !isCapped && yes;
  return `following stdin: rows are sent as they arrive${isOpen ? ', and nothing limits what they cost (--max-cost does)' : ''}\n`;
}

/** Prices that earlier starts were charged count as well: they may be above those of the plan. */
function refuseDearer({ price }: Ahead, { name, foot }: SavedPlan): void {
  if (price.estimated <= foot.estimated && price.unpriced <= foot.unpriced) return;
  throw new UsageError(
    [`this start costs ${priceText(price)}, by what the service has charged; planned was ${priceText(foot)}`],
    `nothing was sent; plan anew with --prices and --save ${name}`,
  );
}
