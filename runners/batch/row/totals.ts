import { isDeepStrictEqual } from 'node:util';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowKind } from '../manifest/manifest-row.js';
import type { RowStatus } from './row-status.js';

/** Purchases with the same key are added up in one account. */
export interface PurchaseKind {
  readonly kind: string;
  readonly endpoint: string;
  /** The empty string if there is none. */
  readonly resolution: string;
  /** Its values in the columns by which the run adds up its money; absent if there are no such columns. */
  readonly by?: readonly string[];
}

export interface Account {
  readonly purchase: PurchaseKind;
  /** Amounts in millionths of a dollar, by booking. */
  readonly sums: number[];
  /** Number of purchases, by booking. */
  readonly counts: number[];
  /** Number of purchases without a known price, by booking. */
  readonly unpriced: number[];
  /** Number of rows whose latest purchase is of this kind, by the byte of their status. */
  readonly rows: number[];
  /** The highest price that was reported, or shown by the time of a job; -1 if there is none. */
  highest: number;
}

/** The sums of a tally without the rows, as plain values. */
export interface KeptTally {
  readonly statusCalls: number;
  readonly possiblyDouble: number;
  readonly accounts: readonly Account[];
  /** The columns by which the accounts are kept separate, in addition to the kind of purchase. */
  readonly columns: readonly string[];
}

/** The totals of a tally: rows and money over all starts, in millionths of a dollar. */
export interface Totals {
  /** Number of rows by state; a state without rows is missing. */
  readonly rows: ReadonlyMap<RowStatus, number>;
  readonly spent: MoneyBySource;
  /** Held for rows that may have been paid for, including purchases of rows that were bought again since. */
  readonly unknown: MicroDollars;
  /** The part of `unknown` for rows that were bought again since, so possibly paid twice. */
  readonly possiblyDouble: MicroDollars;
  /** Reserved for pending rows. */
  readonly reserved: MicroDollars;
  /** Number of purchases in `unknown` and `reserved` without a known price. */
  readonly unpriced: number;
  /** By `resolution`; the empty string for purchases without one. */
  readonly byResolution: ReadonlyMap<string, MoneyTotals>;
  /** Number of purchases whose end is known. */
  readonly purchases: number;
  /** The same sums without paid rows whose picture is not saved yet. The files have these sums. */
  readonly ended: MoneyTotals & {
    readonly unpriced: number;
    readonly byResolution: ReadonlyMap<string, MoneyTotals>;
  };
  readonly statusCalls: number;
}

export interface MoneyBySource {
  readonly reported: MicroDollars;
  readonly estimated: MicroDollars;
}

export interface MoneyTotals extends MoneyBySource {
  readonly unknown: MicroDollars;
  /** Number of purchases whose end is known. */
  readonly purchases: number;
}

/** A price that the service reported, in millionths of a dollar. */
export interface ReportedPrice {
  readonly kind: RowKind;
  readonly endpoint: string;
  /** The empty string if there is none. */
  readonly resolution: string;
  readonly cost: MicroDollars;
}

/** How many rows this start has ended. A row that is bought again at once has not ended. */
export interface StartCounts {
  readonly ended: number;
  readonly completed: number;
  readonly failed: number;
  /** The part of `failed` that may have been bought; a person decides. */
  readonly unknown: number;
  /** The part of `unknown` for which this start did not ask the service: requests of an earlier start, and held rows. */
  readonly leftUnknown: number;
  /** The part of `failed` that could not be sent. */
  readonly invalid: number;
  /** The part of `failed` that is paid for, but whose outputs are still to be downloaded. */
  readonly notDownloaded: number;
  /** Ids of the first rows that are held as unknown. */
  readonly held: readonly string[];
}

/** The columns by which a run adds up its money, and the caps of their values. The run remembers them. */
export interface CostBy {
  /** Columns whose values are added up; columns with a cap are added up as well. */
  readonly columns: readonly string[];
  /** By column, the cap for the purchases of one value, in US dollars. */
  readonly capsUsd: Readonly<Record<string, number>>;
}

/** At most this many columns, because each row has a value for each of them in every sum. */
export const mostCostColumns = 8;

/** How a start changes `CostBy`. */
export interface CostByChoices {
  /** `null` removes all columns. `undefined` keeps those that the run remembers. */
  readonly costBy?: readonly string[] | null | undefined;
  /** Changes the caps of these columns; `null` lifts one, or all. */
  readonly maxCostByUsd?: Readonly<Record<string, number | null>> | null | undefined;
}

export const noCostBy: CostBy = { columns: [], capsUsd: {} };

/** The columns and caps of a start, from its choices and what the run remembers. */
export function costByInForce({ costBy, maxCostByUsd }: CostByChoices, remembered = noCostBy): CostBy {
  const caps = maxCostByUsd === null ? {} : { ...remembered.capsUsd, ...maxCostByUsd };
  const kept = Object.entries(caps).filter((cap): cap is [string, number] => cap[1] !== null);
  const columns = costBy === undefined ? remembered.columns : (costBy ?? []);
  return { columns: [...new Set(columns)], capsUsd: Object.fromEntries(kept) };
}

/** The columns by which a run adds up its money, in the order of a row's values. */
export function trackedColumns({ columns, capsUsd }: CostBy): string[] {
  return [...new Set([...columns, ...Object.keys(capsUsd)])];
}

/** Whether both are the same; the order of the caps does not matter. */
export function isSameCostBy(one: CostBy, other: CostBy): boolean {
  return isDeepStrictEqual([one.columns, one.capsUsd], [other.columns, other.capsUsd]);
}
