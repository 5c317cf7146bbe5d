import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { assumePrice } from '../../batch/ledger/assume-price.js';
import { PricedBytes } from '../../batch/tasks/priced-bytes.js';
import { readRows } from '../../batch/tasks/read-rows.js';
import { holdToPlan } from '../saved-plan/hold-to-plan.js';
import type { SavedPlan } from '../saved-plan/read-plan.js';
import type { StartedRun } from './batch-options.js';
import { plannedSettings, refuseMissing } from './plan-source.js';
import { selectRows } from './select-rows.js';

/** A start that does what was planned and nothing else. Throws `UsageError` with what has changed. */
export async function heldToPlan(run: StartedRun, plan: SavedPlan): Promise<StartedRun> {
  const { source, options, prices } = run;
  const { path } = source;
  const settings = await plannedSettings(source, options);
  const bytes = new PricedBytes();
  const { assumePrice: assumed } = options;
  await holdToPlan(plan, {
    bytes: () => bytes.read(nodeDisk, path, source.name),
    items: () => selectRows(readRows(nodeDisk, { path, settings, bytes }), options, refuseMissing),
    prices: assumed === undefined ? prices : assumePrice(prices, toMicroDollars(assumed)),
  });
  return { ...run, plan, bytes, options: await partOf(options, plan) };
}

/** `--limit` counts rows that are still to be done: at a second start they would be others than those planned. */
async function partOf(options: StartedRun['options'], plan: SavedPlan): Promise<StartedRun['options']> {
  if (options.limit === undefined) return options;
  const only: string[] = [];
  for await (const { id } of plan.rows()) only.push(id);
  return { ...options, limit: undefined, only };
}
