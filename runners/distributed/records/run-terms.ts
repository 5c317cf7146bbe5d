import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import type { PriceList } from '../../batch/ledger/price-list.js';

/** What binds every worker of a run, as the collector says it at each start. Durations in ms. The key is not in it. */
export interface RunTerms {
  /** A worker serves only runs against the hosts that it was given itself. */
  readonly identity: RunIdentity;
  /** Rows in flight, over all workers. */
  readonly concurrency: number;
  /** Requests a second to the service, over all workers. Absent: no limit. */
  readonly rate?: number;
  /** One row, from its first request of this start to its end. */
  readonly timeoutMs: number;
  readonly runsyncTimeoutMs: number;
  /** Extra tries of what is safe to try again. */
  readonly retries: number;
  readonly onUnknown: 'hold' | 'retry';
  /** What one status call is worth, in ms of lag. */
  readonly pollCostMs: number;
  /** Pictures are saved: by the workers that share the folder, else by the collector. */
  readonly download: boolean;
  /** Reserved, spent and unknown money never go beyond it. Absent: no cap. */
  readonly cap?: MicroDollars;
  /** A reported price that is dearer than the book's by more than so many per cent stops the run. */
  readonly maxPriceDriftPercent?: number;
  readonly prices: PriceTerms;
  /** Queue endpoints that rows of this start are sent to, and whether rows go to routes: when nothing of it is left the run stops. */
  readonly endpoints: readonly string[];
  readonly hasRoutes: boolean;
}

/** A price book as plain values. */
export interface PriceTerms extends Omit<PriceList, 'endpoints'> {
  readonly endpoints: readonly (readonly [id: string, price: EndpointTerms])[];
  /** Reckoned with where the book has no price. */
  readonly assumed?: MicroDollars;
}

type EndpointTerms = PriceList['endpoints'] extends ReadonlyMap<string, infer Price> ? Price : never;
