import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowKind } from '../manifest/manifest-row.js';
import type { RowStatus } from './row-status.js';

/** By which purchases are added up. */
export interface PurchaseKind {
  readonly kind: string;
  readonly endpoint: string;
  /** The empty string where there is none. */
  readonly resolution: string;
  /** Its values in the columns by which the run adds up its money; absent where it does not. */
  readonly by?: readonly string[];
}

/** The sums of one kind of purchase. */
export interface Account {
  readonly purchase: PurchaseKind;
  /** Millionths of a dollar, by booking. */
  readonly sums: number[];
  /** How many purchases, by booking. */
  readonly counts: number[];
  /** How many of them have no known price, by booking. */
  readonly unpriced: number[];
  /** How many rows bought this last, by the byte of their status. */
  readonly rows: number[];
  /** Highest reported price; -1 where none was reported. */
  highest: number;
}

/** What a tally holds beside the rows, as plain values. */
export interface KeptTally {
  readonly statusCalls: number;
  readonly possiblyDouble: number;
  readonly accounts: readonly Account[];
  /** By which the accounts are kept apart, beside the kind of purchase. */
  readonly columns: readonly string[];
}

/** Rows and money over all starts, in millionths of a dollar: what the tally of a journal adds up to. */
export interface Totals {
  /** Rows by state; a state that no row has is missing. */
  readonly rows: ReadonlyMap<RowStatus, number>;
  readonly spent: MoneyBySource;
  /** Held for rows that may have been paid, purchases of a row that was bought again since included. */
  readonly unknown: MicroDollars;
  /** Of `unknown`: purchases of rows that were bought again since, so possibly paid twice. */
  readonly possiblyDouble: MicroDollars;
  /** Reserved for pending rows. */
  readonly reserved: MicroDollars;
  /** How many purchases in `unknown` and `reserved` have no known price. */
  readonly unpriced: number;
  /** By `resolution`; the empty string for what has none. */
  readonly byResolution: ReadonlyMap<string, MoneyTotals>;
  /** Purchases with a known end. */
  readonly purchases: number;
  /** The same without rows that are paid and wait for their picture: what stands in the files. */
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
  /** With a known end. */
  readonly purchases: number;
}

/** A price that the service reported, in millionths of a dollar. */
export interface ReportedPrice {
  readonly kind: RowKind;
  readonly endpoint: string;
  /** The empty string where there is none. */
  readonly resolution: string;
  readonly cost: MicroDollars;
}

/** How many rows this start has ended. A row that is bought again at once has not ended. */
export interface StartCounts {
  readonly ended: number;
  readonly completed: number;
  readonly failed: number;
  /** Of `failed`: they may have been bought, and a person decides. */
  readonly unknown: number;
  /** Of `failed`: they could not be sent. */
  readonly invalid: number;
  /** Of `failed`: they are paid for, and what they answer is still to be downloaded. */
  readonly notDownloaded: number;
  /** Ids of the first rows that are held as unknown. */
  readonly held: readonly string[];
}

/** By which columns of its rows a run adds up its money, and what no value of a column may cost. The run remembers it. */
export interface CostBy {
  /** Columns whose values are added up; those with a cap are as well. */
  readonly columns: readonly string[];
  /** What the purchases of one value may cost at most, in USD, by column. */
  readonly capsUsd: Readonly<Record<string, number>>;
}

/** A row has a value for each of them in every sum. */
export const mostCostColumns = 8;

/** What a start says of it. */
export interface CostByChoices {
  /** `null`: none any more. `undefined`: as the run remembers it. */
  readonly costBy?: readonly string[] | null | undefined;
  /** Changes the caps of these columns; `null` lifts one, or all. */
  readonly maxCostByUsd?: Readonly<Record<string, number | null>> | null | undefined;
}

export const noCostBy: CostBy = { columns: [], capsUsd: {} };

/** What holds for a start that says this, in a run that remembers that. */
export function costByInForce({ costBy, maxCostByUsd }: CostByChoices, remembered = noCostBy): CostBy {
  const caps = maxCostByUsd === null ? {} : { ...remembered.capsUsd, ...maxCostByUsd };
  const kept = Object.entries(caps).filter((cap): cap is [string, number] => cap[1] !== null);
  const columns = costBy === undefined ? remembered.columns : (costBy ?? []);
  return { columns: [...new Set(columns)], capsUsd: Object.fromEntries(kept) };
}

/** The columns by which a run adds up: a row has a value for each, in this order. */
export function trackedColumns({ columns, capsUsd }: CostBy): string[] {
  return [...new Set([...columns, ...Object.keys(capsUsd)])];
}

/** Whether both are the same, caps in any order. */
export function isSameCostBy(one: CostBy, other: CostBy): boolean {
  return textOf(one) === textOf(other);
}

function textOf({ columns, capsUsd }: CostBy): string {
  return JSON.stringify([columns, Object.entries(capsUsd).sort(([a], [b]) => (a < b ? -1 : 1))]);
}
