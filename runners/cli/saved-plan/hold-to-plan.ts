import { createHash } from 'node:crypto';
import { UsageError } from '../io/usage-error.js';
import { countOf } from '../words/amounts.js';
import { priceText } from '../words/plan-text.js';
import { diffPlan, type StartByPlan } from './diff-plan.js';
import { plannedRow } from './planned-row.js';
import type { SavedPlan } from './read-plan.js';

/** Throws `UsageError` with what has changed, row by row, unless a start would do exactly what was planned. */
export async function holdToPlan(plan: SavedPlan, start: StartByPlan): Promise<void> {
  const isSameFile = (await sumOf(start.bytes())) === plan.foot.manifest;
  if (isSameFile && (await hasSameRows(plan, start))) return;
  const { lines, count, cost } = await diffPlan(plan, start);
  const told = plan.foot;
  const isDearer = cost.estimated !== told.estimated || cost.unpriced !== told.unpriced;
  throw new UsageError(
    [
      isSameFile
        ? `this is not what was planned: the price of ${countOf(count, 'row')} is another`
        : `the manifest is not the one that was planned: ${count === 0 ? 'its bytes have changed, though no row that is sent' : `${countOf(count, 'row')} of it ${count === 1 ? 'differs' : 'differ'}`}`,
      ...lines,
      ...(count > lines.length ? [`… and ${countOf(count - lines.length, 'more row')}`] : []),
      ...(isDearer ? [`the price is ${priceText(cost)}; planned was ${priceText(told)}`] : []),
    ],
    `nothing was sent; look at the changes and plan anew: millrace plan … --save ${plan.name}`,
  );
}

async function sumOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of bytes) sum.update(chunk);
  return sum.digest('hex');
}

async function hasSameRows(plan: SavedPlan, { items, prices }: StartByPlan): Promise<boolean> {
  const planned = plan.rows();
  try {
    for await (const item of items()) {
      const { done, value } = await planned.next();
      const now = plannedRow(item, prices);
      if (done === true || value.id !== now.id || value.hash !== now.hash || value.price !== now.price)
        return false;
    }
    return (await planned.next()).done === true;
  } finally {
    await planned.return();
  }
}
