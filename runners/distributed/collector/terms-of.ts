import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Run } from '../../batch/run/run.js';
import type { PriceTerms, RunTerms } from '../store/run-terms.js';

/** What this start of a run says to its workers. What was spent before the database counted is taken off the cap. */
export function termsOf(run: Run, rate: number | undefined, spentBefore: number): RunTerms {
  const { options, plan, ahead, slots } = run;
  const { timeoutMs, runsyncTimeoutMs, retries, onUnknown, pollCostMs, download } = options;
  const { maxCostUsd, maxPriceDriftPercent, identity } = options;
  return {
    ...{
      identity,
      concurrency: slots.limit,
      timeoutMs,
      runsyncTimeoutMs,
      retries,
      onUnknown,
      pollCostMs,
      download,
    },
    ...(rate !== undefined && { rate }),
    ...(maxCostUsd !== undefined && { cap: Math.max(toMicroDollars(maxCostUsd) - spentBefore, 0) }),
    ...(maxPriceDriftPercent !== undefined && { maxPriceDriftPercent }),
    prices: priceTerms(run),
    endpoints: ahead.endpoints,
    hasRoutes: plan.byKind.route > 0,
  };
}

function priceTerms({ prices }: Run): PriceTerms {
  const { book, assumed } = prices.table();
  return { ...book, endpoints: [...book.endpoints], ...(assumed !== undefined && { assumed }) };
}
