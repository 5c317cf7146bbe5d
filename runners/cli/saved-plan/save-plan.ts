import { createReadStream } from 'node:fs';
import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { ManifestSettings } from '../../batch/manifest/manifest-settings.js';
import { planManifest, type Plan } from '../../batch/manifest/plan-manifest.js';
import { readManifest } from '../../batch/manifest/read-manifest.js';
import type { ManifestItem, Row } from '../../batch/manifest/manifest-row.js';
import type { CliIo } from '../io/cli-io.js';
import { PlanWriter } from './plan-writer.js';
import type { PlanHead } from './saved-plan.js';

/** What a plan is made of. */
export interface PlanToSave {
  /** Where it is saved. */
  readonly file: string;
  readonly head: PlanHead;
  readonly settings: ManifestSettings;
  /** Leaves the part that is to be done. */
  readonly select: (items: AsyncIterable<ManifestItem>) => AsyncIterable<ManifestItem>;
  readonly prices: PriceBook;
  /** Saved with its invalid rows, which are left out; else such a plan is not saved. */
  readonly skipInvalid: boolean;
}

/** Makes the plan of a manifest and saves it, a line a row, so that a run by it can be held to it. */
export async function savePlan(toSave: PlanToSave, io: Pick<CliIo, 'stdin'>): Promise<Plan> {
  const { file, head, settings, select, prices, skipInvalid } = toSave;
  const { path } = head.manifest;
  const writer = await PlanWriter.open(file, head);
  try {
    const bytes = writer.bytes(path === null ? io.stdin : createReadStream(path));
    const items = writer.rows(select(readManifest(bytes, settings)), prices);
    const again = path === null ? undefined : () => select(readManifest(createReadStream(path), settings));
    const priceOf = (row: Row) => prices.priceOf(row);
    const plan = await planManifest(items, { priceOf, ...(again && { again }) });
    if (plan.invalid === 0 || skipInvalid) await writer.finish(plan);
    return plan;
  } finally {
    await writer.abandon();
  }
}
