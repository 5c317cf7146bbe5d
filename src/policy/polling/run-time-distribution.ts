/**
 * Ages on a logarithmic grid: `edges[i]` in ms, each 1 % above the one before, from 10 ms to about 8 hours. A distribution of
 * run times has a probability for each bin, so a poll time is right to within 1 %.
 */
const step = Math.log(1.01);
const firstMs = 10;
const bins = 1_500;

/** With its type, because the inferred one does not exist before TypeScript 5.7. */
const edges: ArrayLike<number> = Float64Array.from(
  { length: bins + 1 },
  (_, index) => firstMs * Math.exp(index * step),
);

export const ageGrid = {
  bins,
  edges,
  step,
  firstMs,
  /** The bin of an age; ages below the grid are in the first bin, ages beyond it in the last. */
  binOf(ms: number): number {
    if (!(ms > firstMs)) return 0;
    return Math.min(bins - 1, Math.floor(Math.log(ms / firstMs) / step));
  },
} as const;

/** Past run times, kept for the next start. */
export interface KeptRunTimes {
  /** Run times in ms, the oldest first. */
  readonly runTimesMs: readonly number[];
}

export type RunTimeDistribution = ReturnType<typeof createRunTimeDistribution>;

/**
 * The distribution before the first sample, in parts [share, from ms, to ms]. A quarter of all endpoints are assumed to answer
 * at once (an echo, a look-up); for the others any run time up to an hour, each power of ten equally likely.
 */
const unknown = [
  [0.25, 20, 100],
  [0.75, 100, 3_600_000],
] as const;
/** The spread assumed while there are few samples, and how many samples that assumption counts as. */
const assumed = { sigma: 0.6, weight: 3 };
const remembered = 400;
/** After this many newer samples a sample counts half. */
const halfLife = 150;
/** Whether the distribution has changed is decided by this many of the newest samples. */
const recent = 12;
const changeSigmas = 4.5;
/** A share for run times of any length, equally likely on a log scale, so that every job is polled again at some time. */
const strayShare = 0.015;
/** How many samples the fitted curve counts as, in addition to the samples themselves. */
const fitWeight = 60;

/**
 * The run-time distribution of one endpoint and variant, learned as jobs end: a lognormal curve fitted to the samples,
 * mixed with the smoothed samples, which weigh more the more there are. Running jobs count as censored samples, old
 * samples fade, and a sudden change drops what was learned before it.
 */
export function createRunTimeDistribution(kept?: KeptRunTimes) {
  let logs: number[] = (kept?.runTimesMs ?? []).slice(-remembered).map(toLog);
  /** Samples before this one no longer count. Many are dropped at a time. */
  let first = 0;
  let lastMass: Float64Array | undefined;
  return {
    /** Records the run time of an ended job. */
    observe(runTimeMs: number): void {
      logs.push(toLog(runTimeMs));
      if (hasChanged(logs, first)) first = logs.length - recent;
      first = Math.max(first, logs.length - remembered);
      if (first < remembered) return;
      logs = logs.slice(first);
      first = 0;
    },
    /** The number of samples that still count. */
    get samples(): number {
      return logs.length - first;
    },
    /** Probability of ending in each bin of the age grid; `runningAgesMs` are the ages of running jobs: censored samples. */
    massGiven(runningAgesMs: readonly number[]): Float64Array {
      const mass = distributionOf(logs.slice(first), runningAgesMs, lastMass);
      lastMass = mass;
      return mass;
    },
    keep: (): KeptRunTimes => ({ runTimesMs: logs.slice(first).map((log) => Math.round(Math.exp(log))) }),
  };
}

function toLog(ms: number): number {
  return Math.log(Math.max(ms, ageGrid.firstMs));
}

/** Whether the newest samples are far from those before them, from `first` on. */
function hasChanged(logs: readonly number[], first: number): boolean {
  const count = logs.length - first;
  if (count < recent + 8) return false;
  const before = count - recent;
  const mean = meanOf(logs, first, first + before);
  const variance = squaresAbout(mean, logs, first, first + before) / Math.max(1, before - 1);
  const spread = Math.sqrt(Math.max(variance, 0.01) * (1 / recent + 1 / before));
  return Math.abs(meanOf(logs, first + before, logs.length) - mean) > changeSigmas * spread;
}

function meanOf(values: readonly number[], from: number, to: number): number {
  let sum = 0;
  for (let place = from; place < to; place += 1) sum += values[place] ?? 0;
  return sum / (to - from);
}

function squaresAbout(mean: number, values: readonly number[], from: number, to: number): number {
  let sum = 0;
  for (let place = from; place < to; place += 1) sum += ((values[place] ?? 0) - mean) ** 2;
  return sum;
}

function distributionOf(
  logs: readonly number[],
  ages: readonly number[],
  last: Float64Array | undefined,
): Float64Array {
  if (logs.length === 0) return withStrays(unknownMass());
  const counts = new Float64Array(ageGrid.bins);
  let weight = 0;
  for (const [index, log] of logs.entries()) {
    const fading = 0.5 ** ((logs.length - 1 - index) / halfLife);
    const bin = ageGrid.binOf(Math.exp(log));
    counts[bin] = (counts[bin] ?? 0) + fading;
    weight += fading;
  }
  const censored = Math.min(ages.length, 2 * logs.length);
  if (last !== undefined && censored > 0) {
    addCensored(counts, ages, last, censored / ages.length);
    weight += censored;
  }
  const fit = fitOf(counts, weight);
  const smooth = smoothed(counts, fit.sigma * 1.06 * Math.max(weight, 1) ** -0.2);
  let smoothWeight = 0;
  for (const value of smooth) smoothWeight += value;
  const fitShare = fitWeight / (fitWeight + weight);
  const curve = lognormal(fit);
  for (let bin = 0; bin < ageGrid.bins; bin += 1) {
    const value = curve[bin] ?? 0;
    const sampled = smoothWeight > 0 ? (smooth[bin] ?? 0) / smoothWeight : value;
    curve[bin] = fitShare * value + (1 - fitShare) * sampled;
  }
  return withStrays(curve);
}

function withStrays(mass: Float64Array): Float64Array {
  for (let bin = 0; bin < ageGrid.bins; bin += 1)
    mass[bin] = (1 - strayShare) * (mass[bin] ?? 0) + strayShare / ageGrid.bins;
  return mass;
}

function unknownMass(): Float64Array {
  const mass = new Float64Array(ageGrid.bins);
  for (const [share, fromMs, toMs] of unknown) {
    const [first, end] = [ageGrid.binOf(fromMs), ageGrid.binOf(toMs)];
    mass.fill(share / (end - first), first, end);
  }
  return mass;
}

/** A running job of some age will end beyond that age, with the probabilities of the last distribution. */
function addCensored(counts: Float64Array, ages: readonly number[], last: Float64Array, each: number): void {
  const alive = new Float64Array(ageGrid.bins + 1);
  for (let bin = ageGrid.bins - 1; bin >= 0; bin -= 1) alive[bin] = (alive[bin + 1] ?? 0) + (last[bin] ?? 0);
  const shares = new Float64Array(ageGrid.bins);
  for (const age of ages) {
    const bin = ageGrid.binOf(age);
    shares[bin] = (shares[bin] ?? 0) + each / Math.max(alive[bin] ?? 0, 1e-9);
  }
  let share = 0;
  for (let bin = 0; bin < ageGrid.bins; bin += 1) {
    share += shares[bin] ?? 0;
    counts[bin] = (counts[bin] ?? 0) + share * (last[bin] ?? 0);
  }
}

function fitOf(counts: Float64Array, weight: number): { mean: number; sigma: number } {
  const first = Math.log(firstMs) + step / 2;
  let sum = 0;
  for (let bin = 0; bin < ageGrid.bins; bin += 1) sum += (counts[bin] ?? 0) * (first + bin * step);
  const mean = sum / weight;
  let squares = assumed.weight * assumed.sigma ** 2;
  for (let bin = 0; bin < ageGrid.bins; bin += 1)
    squares += (counts[bin] ?? 0) * (first + bin * step - mean) ** 2;
  const sigma = Math.sqrt(squares / (weight + assumed.weight));
  return { mean, sigma: Math.min(3, Math.max(0.02, sigma * (1 + 1 / (weight + 1)))) };
}

function lognormal({ mean, sigma }: { mean: number; sigma: number }): Float64Array {
  const curve = new Float64Array(ageGrid.bins);
  let total = 0;
  for (let bin = 0; bin < ageGrid.bins; bin += 1) {
    const distance = (Math.log(ageGrid.firstMs) + (bin + 0.5) * ageGrid.step - mean) / sigma;
    const value = Math.exp(-(distance ** 2) / 2);
    curve[bin] = value;
    total += value;
  }
  for (let bin = 0; bin < ageGrid.bins; bin += 1) curve[bin] = (curve[bin] ?? 0) / total;
  return curve;
}

/** Three successive running means approximate a bell curve of this width. */
function smoothed(counts: Float64Array, width: number): Float64Array {
  const radius = Math.max(1, Math.round((width / ageGrid.step) * Math.sqrt(3) * 0.577));
  let values = counts;
  for (let round = 0; round < 3; round += 1) values = runningMean(values, radius);
  return values;
}

function runningMean(values: Float64Array, radius: number): Float64Array {
  const out = new Float64Array(values.length);
  let sum = 0;
  for (let index = -radius; index < values.length; index += 1) {
    sum += values[index + radius] ?? 0;
    sum -= values[index - radius - 1] ?? 0;
    if (index >= 0) out[index] = sum / (2 * radius + 1);
  }
  return out;
}
