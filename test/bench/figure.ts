/** One line of the table. */
export interface Figure {
  readonly what: string;
  readonly unit: string;
  readonly median: number;
  readonly low: number;
  readonly high: number;
  /** What `bench:check` asserts of the median. */
  readonly limit?: { readonly atMost: number } | { readonly atLeast: number };
  readonly note?: string;
}

/** The median and the spread of some rounds. */
export function figure(
  what: string,
  unit: string,
  rounds: readonly number[],
  more: Pick<Figure, 'limit' | 'note'> = {},
): Figure {
  const sorted = [...rounds].sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return { what, unit, median: at(0.5), low: at(0), high: at(1), ...more };
}

/** Each round of one divided by the same round of the other. */
export function ratios(one: readonly number[], other: readonly number[]): number[] {
  return one.map((value, round) => value / (other[round] ?? Number.NaN));
}

export function isReached({ median, limit }: Figure): boolean {
  if (limit === undefined) return true;
  return 'atMost' in limit ? median <= limit.atMost : median >= limit.atLeast;
}

/** CPU of this process in µs while something is done. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
