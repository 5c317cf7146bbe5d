import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import type { PriceList } from '../../batch/ledger/price-list.js';

/** What each worker of a run has to keep to. The collector writes it at each start. Durations in ms. It never has the API key. */
export interface RunTerms {
  /** A worker serves only runs whose hosts it was given itself. */
  readonly identity: RunIdentity;
  /** Rows in flight, over all workers together; `auto`: each worker finds out how many the service takes, up to 100 together. */
  readonly concurrency: number | 'auto';
  /** Requests a second to the service, over all workers together. Absent: no limit. */
  readonly rate?: number;
  /** One row, from when this start takes its job up to its end. */
  readonly timeoutMs: number;
  readonly runsyncTimeoutMs: number;
  /** The same by endpoint id, where it is another. */
  readonly executionTimeoutsMs: Readonly<Record<string, number>>;
  /** Extra tries of what is safe to try again. */
  readonly retries: number;
  readonly onUnknown: 'hold' | 'retry';
  /** What one status call is worth, in ms of lag. */
  readonly pollCostMs: number;
  /** Rows that go to /run wait at the service behind all jobs that do not say so. */
  readonly lowPriority?: boolean;
  /** Where the service calls back about rows that go to /run. Absent: it does not. */
  readonly webhookUrl?: string;
  /** Pictures are saved: by workers that share the folder, or else by the collector. */
  readonly download: boolean;
  /** Paths into outputs whose files are saved as well. Absent: none. */
  readonly saveOutput?: readonly string[];
  /** Reserved, spent and unknown money never go beyond it. Absent: no cap. */
  readonly cap?: MicroDollars;
  /** What no value of a column may cost more than, in USD. Absent: no such cap. */
  readonly capsByUsd?: Readonly<Record<string, number>>;
  /** A reported price that exceeds the book's by more than this many per cent stops the run. */
  readonly maxPriceDriftPercent?: number;
  /** How many rows have no known price, and what they may cost together: a worker stops the run at the first price that is above. */
  readonly unagreed?: { readonly rows: number; readonly mostUsd: number };
  readonly prices: PriceTerms;
  /** The queue endpoints of this start's rows, and whether rows go to routes. */
  readonly endpoints: readonly string[];
  readonly hasRoutes: boolean;
}

/** A price book as plain values. */
export interface PriceTerms extends Omit<PriceList, 'endpoints'> {
  readonly endpoints: readonly (readonly [id: string, price: EndpointTerms])[];
  /** The price where the book has none. */
  readonly assumed?: MicroDollars;
}

type EndpointTerms = PriceList['endpoints'] extends ReadonlyMap<string, infer Price> ? Price : never;

/** The compiler asks for each. */
const known: Readonly<Record<keyof RunTerms, true>> = {
  ...{
    identity: true,
    concurrency: true,
    rate: true,
    timeoutMs: true,
    runsyncTimeoutMs: true,
    retries: true,
  },
  ...{ executionTimeoutsMs: true, onUnknown: true, pollCostMs: true, lowPriority: true, webhookUrl: true },
  ...{ download: true, saveOutput: true, cap: true, capsByUsd: true, maxPriceDriftPercent: true },
  unagreed: true,
  ...{ prices: true, endpoints: true, hasRoutes: true },
};

/**
 * Why a worker leaves a run to others: the key goes only to the hosts that it was given, and one that passed over what it does not know
 * would do rows otherwise than was asked for.
 */
export function whyForeign(
  terms: RunTerms,
  worker: { readonly baseUrl?: string | undefined; readonly lbBaseUrl?: string | undefined },
): string | undefined {
  const { baseUrl, lbBaseUrl } = terms.identity;
  const isOurs =
    (baseUrl === '' || baseUrl === worker.baseUrl) && (lbBaseUrl === '' || lbBaseUrl === worker.lbBaseUrl);
  const host = baseUrl === worker.baseUrl ? lbBaseUrl : baseUrl;
  if (!isOurs) return `is against ${host}, and this worker was not given that host`;
  const unknown = Object.keys(terms).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return undefined;
  return `is of a newer millrace and asks for what this worker does not know (${unknown.join(', ')})`;
}

/** With `auto`. */
const mostFound = 100;

/** How many rows all workers together have in flight at most. */
export function mostInFlight({ concurrency }: Pick<RunTerms, 'concurrency'>): number {
  return concurrency === 'auto' ? mostFound : concurrency;
}
