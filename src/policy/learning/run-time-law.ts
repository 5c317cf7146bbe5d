import { ageGrid } from './age-grid.js';

/** What is remembered of past run times, as it is kept in a run's folder for the next start. */
export interface KeptLaw {
  /** Run times in ms, the oldest first. */
  readonly runTimesMs: readonly number[];
}

export interface RunTimeLaw {
  /** A job ended after having run for so long. */
  observe(runTimeMs: number): void;
  /** Samples that still count. */
  readonly samples: number;
  /** Probability of ending in each bin of the age grid; `runningAgesMs` are the jobs at work, censored samples. */
  massGiven(runningAgesMs: readonly number[]): Float64Array;
  keep(): KeptLaw;
}

/**
 * Before the first sample nothing is known. A quarter of all endpoints are believed to answer at once (an echo, a look-up);
 * else any run time up to an hour, each power of ten as likely as the others. Both parts are [share, from ms, to ms].
 */
const unknown = [
  [0.25, 20, 100],
  [0.75, 100, 3_600_000],
] as const;
/** The spread that is assumed while there are few samples, and how many samples that assumption counts as. */
const assumed = { sigma: 0.6, weight: 3 };
const remembered = 400;
/** Samples count half after so many further ones. */
const halfLife = 150;
/** So many of the newest samples tell whether the law has changed. */
const recent = 12;
const changeSigmas = 4.5;
/** Always believed possible: any age equally likely on a log scale, so that no job is forgotten. */
const strayShare = 0.015;
/** The fitted curve counts as so many samples beside the samples themselves. */
const fitWeight = 60;

/**
 * The law of run times of one endpoint and variant, learned as jobs end: a lognormal curve fitted to the samples and
 * smoothed samples, mixed by how many there are. Running jobs count as censored samples, old samples fade, and a
 * sudden change drops what was learned before it.
 */
export function createRunTimeLaw(kept?: KeptLaw): RunTimeLaw {
  let logs: number[] = (kept?.runTimesMs ?? []).slice(-remembered).map(toLog);
  let lastMass: Float64Array | undefined;
  return {
    observe(runTimeMs) {
      logs.push(toLog(runTimeMs));
      if (hasChanged(logs)) logs = logs.slice(-recent);
      if (logs.length > remembered) logs = logs.slice(-remembered);
    },
    get samples() {
      return logs.length;
    },
    massGiven(runningAgesMs) {
      const mass = lawOf(logs, runningAgesMs, lastMass);
      lastMass = mass;
      return mass;
    },
    keep: () => ({ runTimesMs: logs.map((log) => Math.round(Math.exp(log))) }),
  };
}

function toLog(ms: number): number {
  return Math.log(Math.max(ms, ageGrid.firstMs));
}

function hasChanged(logs: readonly number[]): boolean {
  if (logs.length < recent + 8) return false;
  const before = logs.slice(0, -recent);
  const { mean, variance } = moments(before);
  const spread = Math.sqrt(Math.max(variance, 0.01) * (1 / recent + 1 / before.length));
  return Math.abs(moments(logs.slice(-recent)).mean - mean) > changeSigmas * spread;
}

function moments(values: readonly number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, variance: squares / Math.max(1, values.length - 1) };
}

function lawOf(
  logs: readonly number[],
  ages: readonly number[],
  last: Float64Array | undefined,
): Float64Array {
  if (logs.length === 0) return withStrays(unknownMass());
  const counts = new Float64Array(ageGrid.bins);
  let weight = 0;
  logs.forEach((log, index) => {
    const fading = 0.5 ** ((logs.length - 1 - index) / halfLife);
    const bin = ageGrid.binOf(Math.exp(log));
    counts[bin] = (counts[bin] ?? 0) + fading;
    weight += fading;
  });
  const censored = Math.min(ages.length, 2 * logs.length);
  if (last !== undefined && censored > 0) {
    addCensored(counts, ages, last, censored / ages.length);
    weight += censored;
  }
  const fit = fitOf(counts, weight);
  const smooth = smoothed(counts, fit.sigma * 1.06 * Math.max(weight, 1) ** -0.2);
  const smoothWeight = smooth.reduce((sum, value) => sum + value, 0);
  const fitShare = fitWeight / (fitWeight + weight);
  const curve = lognormal(fit);
  return withStrays(
    curve.map((value, bin) => {
      const sampled = smoothWeight > 0 ? (smooth[bin] ?? 0) / smoothWeight : value;
      return fitShare * value + (1 - fitShare) * sampled;
    }),
  );
}

function withStrays(mass: Float64Array): Float64Array {
  return mass.map((value) => (1 - strayShare) * value + strayShare / ageGrid.bins);
}

function unknownMass(): Float64Array {
  const mass = new Float64Array(ageGrid.bins);
  for (const [share, fromMs, toMs] of unknown) {
    const [first, end] = [ageGrid.binOf(fromMs), ageGrid.binOf(toMs)];
    mass.fill(share / (end - first), first, end);
  }
  return mass;
}

/** A job that runs since `age` will end somewhere beyond it, by the law as it was believed last. */
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
  const logAt = (bin: number) => Math.log(ageGrid.firstMs) + (bin + 0.5) * ageGrid.step;
  const mean = counts.reduce((total, count, bin) => total + count * logAt(bin), 0) / weight;
  let squares = assumed.weight * assumed.sigma ** 2;
  counts.forEach((count, bin) => (squares += count * (logAt(bin) - mean) ** 2));
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
  return curve.map((value) => value / total);
}

/** Three running means make a bell of the asked width. */
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
