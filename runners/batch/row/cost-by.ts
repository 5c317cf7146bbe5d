/** By which columns of its rows a run adds up its money, and what no value of a column may cost. The run remembers it. */
export interface CostBy {
  /** Columns whose values are added up; those with a cap are as well. */
  readonly columns: readonly string[];
  /** What the purchases of one value may cost at most, in USD, by column. */
  readonly capsUsd: Readonly<Record<string, number>>;
}

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
