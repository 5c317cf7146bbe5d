/**
 * Ages on a logarithmic grid: `edges[i]` in ms, each 1 % above the one before, from 10 ms to about 8 hours.
 * A law of run times is a mass for each bin; fine enough that a poll time is right to within 1 %.
 */
const step = Math.log(1.01);
const firstMs = 10;
const bins = 1_500;

export const ageGrid = {
  bins,
  edges: Float64Array.from({ length: bins + 1 }, (_, index) => firstMs * Math.exp(index * step)),
  step,
  firstMs,
  /** The bin that holds an age; ages below the grid fall into the first, ages beyond it into the last. */
  binOf(ms: number): number {
    if (!(ms > firstMs)) return 0;
    return Math.min(bins - 1, Math.floor(Math.log(ms / firstMs) / step));
  },
} as const;
