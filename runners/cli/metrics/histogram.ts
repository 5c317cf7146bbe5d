/** How many values were at most each bound, in the way of Prometheus: each bucket counts those of the ones before it. */
export interface Histogram {
  add(value: number): void;
  readonly bounds: readonly number[];
  /** One for each bound. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** An empty histogram with these upper bounds, in ascending order. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0);
  let [count, sum] = [0, 0];
  return {
    bounds,
    counts,
    add(value) {
      count += 1;
      sum += value;
      for (const [place, bound] of bounds.entries())
        if (value <= bound) counts[place] = (counts[place] ?? 0) + 1;
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
  };
}
