import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RunIdentity } from '../../batch/journal/record.js';
import type { PriceList } from '../../batch/ledger/price-list.js';

/**
 * The settings of a run that each worker obeys. The collector writes them at each start. Durations in ms. They never
 * contain the API key.
 */
export interface RunTerms {
  /** A worker serves only runs against the hosts that it was given itself. */
  readonly identity: RunIdentity;
  /** Rows in flight, over all workers together. With `auto`, each worker measures how many the service accepts, up to 100 together. */
  readonly concurrency: number | 'auto';
  /** Requests a second to the service, over all workers together. Absent: no limit. */
  readonly rate?: number;
  /** The timeout of one row in this start, until its job has ended. */
  readonly timeoutMs: number;
  readonly runsyncTimeoutMs: number;
  /** Other timeouts by endpoint id. */
  readonly executionTimeoutsMs: Readonly<Record<string, number>>;
  /** Extra tries of requests that are safe to repeat. */
  readonly retries: number;
  readonly onUnknown: 'hold' | 'retry';
  /** The price of one status call, as ms of lag. */
  readonly pollCostMs: number;
  /** Rows sent to /run have low priority at the service: they wait behind all other jobs. */
  readonly lowPriority?: boolean;
  /** The address for the service's callbacks about rows sent to /run. Absent: no callbacks. */
  readonly webhookUrl?: string;
  /** Pictures are saved, by workers that share the folder or else by the collector. */
  readonly download: boolean;
  /** Paths into outputs whose files are saved too. Absent: none. */
  readonly saveOutput?: readonly string[];
  /** The cap: reserved, spent and unknown money together never exceed it. Absent: no cap. */
  readonly cap?: MicroDollars;
  /** The cap for each value of a column, in USD. Absent: no such cap. */
  readonly capsByUsd?: Readonly<Record<string, number>>;
  /** The run stops at a reported price that is this many percent above the price book's. */
  readonly maxPriceDriftPercent?: number;
  /**
   * How many rows have no known price, and what they may cost together. The first price above that stops the run, and so does the
   * shared ledger once this start has spent more than `agreed` on rows whose price is in no list.
   */
  readonly unagreed?: { readonly rows: number; readonly mostUsd: number; readonly agreed: MicroDollars };
  readonly prices: PriceTerms;
  /** The queue endpoints of this start's rows, and whether rows go to routes. */
  readonly endpoints: readonly string[];
  readonly hasRoutes: boolean;
}

/** A price book as plain values. */
export interface PriceTerms extends Omit<PriceList, 'endpoints'> {
  readonly endpoints: readonly (readonly [id: string, price: EndpointTerms])[];
  /** The price of rows for which the book has none. */
  readonly assumed?: MicroDollars;
}

type EndpointTerms = PriceList['endpoints'] extends ReadonlyMap<string, infer Price> ? Price : never;

/** All names: the compiler requires each. */
const known: Readonly<Record<keyof RunTerms, true>> = {
  identity: true,
  concurrency: true,
  rate: true,
  timeoutMs: true,
  runsyncTimeoutMs: true,
  retries: true,
  executionTimeoutsMs: true,
  onUnknown: true,
  pollCostMs: true,
  lowPriority: true,
  webhookUrl: true,
  download: true,
  saveOutput: true,
  cap: true,
  capsByUsd: true,
  maxPriceDriftPercent: true,
  unagreed: true,
  prices: true,
  endpoints: true,
  hasRoutes: true,
};

/**
 * Why a worker leaves a run to others; `undefined` if it may work on it. Its key goes only to the hosts that it was given, and
 * it must know all terms to run rows as asked.
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
  return `is of a newer millrace and uses settings that this worker does not know (${unknown.join(', ')})`;
}

/** The limit of `auto`. */
const mostFound = 100;

/** The maximum number of rows in flight, over all workers together. */
export function mostInFlight({ concurrency }: Pick<RunTerms, 'concurrency'>): number {
  return concurrency === 'auto' ? mostFound : concurrency;
}
