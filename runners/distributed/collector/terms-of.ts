import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import type { Run } from '../../batch/context/run.js';
import type { PriceTerms, RunTerms } from '../store/run-terms.js';

/** What this start of a run says to its workers. What the database does not count is taken off the cap. */
export function termsOf(run: Run, rate: number | undefined, apart: number): RunTerms {
  const { options, plan, ahead, slots } = run;
  const { timeoutMs, runsyncTimeoutMs, retries, onUnknown, pollCostMs, download } = options;
  const { maxPriceDriftPercent } = options;
  const { cap } = ahead;
  return {
    ...{
      identity: neededHosts(run),
      concurrency: slots.limit,
      timeoutMs,
      runsyncTimeoutMs,
      retries,
      onUnknown,
      pollCostMs,
      download,
    },
    ...(rate !== undefined && { rate }),
    ...(cap && { cap: Math.max(toMicroDollars(cap.usd) - apart, 0) }),
    ...(maxPriceDriftPercent !== undefined && { maxPriceDriftPercent }),
    prices: priceTerms(run),
    endpoints: ahead.endpoints,
    hasRoutes: plan.byKind.route > 0,
  };
}

/** A worker needs no host that no row goes to. */
function neededHosts({ options: { identity }, plan: { byKind } }: Run): RunIdentity {
  const { baseUrl, lbBaseUrl, local } = identity;
  return {
    baseUrl: byKind.edit + byKind.job > 0 ? baseUrl : '',
    lbBaseUrl: byKind.route > 0 ? lbBaseUrl : '',
    local,
  };
}

function priceTerms({ prices }: Run): PriceTerms {
  const { book, assumed } = prices.table();
  return { ...book, endpoints: [...book.endpoints], ...(assumed !== undefined && { assumed }) };
}
