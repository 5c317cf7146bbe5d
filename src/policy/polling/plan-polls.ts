import { ageGrid } from './run-time-distribution.js';

/** When to poll next a job that has run for `ageMs` and has not ended. */
export interface PollPlan {
  nextAgeMs(ageMs: number): number;
}

/** From this age of a job, in ms, a call has its full price; for younger jobs, a proportional part. */
const fullPriceFromMs = 350;

/** The price of a call about a job of this age, in ms of lag. */
export function priceOfCall(ageMs: number, msPerCall: number): number {
  return msPerCall * Math.min(1, ageMs / fullPriceFromMs);
}

/**
 * The best poll times for a distribution of run times, by dynamic programming: they minimise the expected lag plus the price of
 * all calls. The price of a call grows with the age of the job up to `msPerCall`, because a lag of 100 ms does not matter after
 * 8 s, but is five times the run time of a job of 20 ms. The future cost of each age is a minimum over lines, so one pass over
 * the grid with a lower hull computes the whole table.
 *
 * @param mass probability of ending in each bin of the age grid
 * @param msPerCall the full price of one status call, in ms of lag
 */
export function planPolls(mass: Float64Array, msPerCall: number): PollPlan {
  const { edges } = ageGrid;
  const bins: number = ageGrid.bins;
  const next = new Int32Array(bins);
  const { ended, endedTimesAge } = prefixSums(mass);
  const hull = createHull(bins + 1);
  let futureCost = 0;
  for (let edge = bins; edge >= 0; edge -= 1) {
    const alive = 1 - (ended[edge] ?? 0);
    if (edge < bins) {
      const best = hull.lowestAt(ended[edge] ?? 0);
      next[edge] = best.edge;
      futureCost = best.value + (endedTimesAge[edge] ?? 0);
    } else {
      futureCost = 2 * msPerCall * alive;
    }
    const age = edges[edge] ?? 0;
    // A job that is still running at the age before this one is polled at this age, and pays for that.
    const price = priceOfCall(age, msPerCall);
    hull.add(edge, age + price, age * (ended[edge] ?? 0) - (endedTimesAge[edge] ?? 0) + futureCost + price);
  }
  return {
    nextAgeMs: (ageMs) => {
      const bin = ageGrid.binOf(ageMs);
      const planned = edges[next[bin] ?? bins] ?? 0;
      return planned > ageMs ? planned : ageMs * 1.01 + 1;
    },
  };
}

function prefixSums(mass: Float64Array): { ended: Float64Array; endedTimesAge: Float64Array } {
  const { bins, edges } = ageGrid;
  const ended = new Float64Array(bins + 1);
  const endedTimesAge = new Float64Array(bins + 1);
  for (let bin = 0; bin < bins; bin += 1) {
    const middle = ((edges[bin] ?? 0) + (edges[bin + 1] ?? 0)) / 2;
    ended[bin + 1] = (ended[bin] ?? 0) + (mass[bin] ?? 0);
    endedTimesAge[bin + 1] = (endedTimesAge[bin] ?? 0) + (mass[bin] ?? 0) * middle;
  }
  return { ended, endedTimesAge };
}

/** The lower hull of lines `intercept − slope · x`, added with descending slopes and looked up at descending x. */
function createHull(capacity: number) {
  const edgeOf = new Int32Array(capacity);
  const slopes = new Float64Array(capacity);
  const intercepts = new Float64Array(capacity);
  let size = 0;
  const valueAt = (line: number, x: number) => (intercepts[line] ?? 0) - (slopes[line] ?? 0) * x;
  const isHidden = (last: number, slope: number, intercept: number) => {
    const a = last - 1;
    const crossNew = (intercept - (intercepts[a] ?? 0)) * ((slopes[a] ?? 0) - (slopes[last] ?? 0));
    const crossOld = ((intercepts[last] ?? 0) - (intercepts[a] ?? 0)) * ((slopes[a] ?? 0) - slope);
    return crossNew <= crossOld;
  };
  return {
    add(edge: number, slope: number, intercept: number) {
      while (size >= 2 && isHidden(size - 1, slope, intercept)) size -= 1;
      edgeOf[size] = edge;
      slopes[size] = slope;
      intercepts[size] = intercept;
      size += 1;
    },
    lowestAt(x: number): { edge: number; value: number } {
      let low = 0;
      let high = size - 1;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (valueAt(middle, x) <= valueAt(middle + 1, x)) high = middle;
        else low = middle + 1;
      }
      return { edge: edgeOf[low] ?? 0, value: valueAt(low, x) };
    },
  };
}
