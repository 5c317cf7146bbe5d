import { EmulatorOptionError } from './emulator-option-error.js';

/** The run time of a function, drawn for each execution. */
export interface Latency {
  /** One draw, in ms, from a source of random numbers in [0, 1). */
  sample(random: () => number): number;
}

/**
 * Reads a distribution of working times: `0`, `fixed:200`, `uniform:100-300`, `normal:500:100` (mean, deviation),
 * `lognormal:800:0.5` (median, sigma), `exponential:400` (mean). Times are ms, or carry `ms`, `s`, `m`.
 * @throws EmulatorOptionError that says what is allowed
 */
export function parseLatency(text: string): Latency {
  const [name = '', ...rest] = text.trim().split(':');
  const time = parseMilliseconds(name);
  if (time !== undefined && rest.length === 0) return { sample: () => time };
  const build = Object.hasOwn(distributions, name) ? distributions[name] : undefined;
  const latency = build?.(rest);
  if (latency === undefined)
    throw new EmulatorOptionError(
      `latency ${JSON.stringify(text)} is none of: 200, fixed:200, uniform:100-300, normal:500:100, lognormal:800:0.5, exponential:400 (times in ms, or as 1.5s)`,
    );
  return latency;
}

const distributions: Record<string, (parts: string[]) => Latency | undefined> = {
  fixed(parts) {
    const [time] = times(parts, 1);
    return time === undefined ? undefined : { sample: () => time };
  },
  uniform(parts) {
    const [from, to] = times(parts.length === 1 ? (parts[0] ?? '').split('-') : parts, 2);
    if (from === undefined || to === undefined || to < from) return undefined;
    return { sample: (random) => from + random() * (to - from) };
  },
  normal(parts) {
    const [mean, deviation] = times(parts, 2);
    if (mean === undefined || deviation === undefined) return undefined;
    return { sample: (random) => Math.max(0, mean + deviation * gaussian(random)) };
  },
  lognormal(parts) {
    const [median] = times(parts.slice(0, 1), 1);
    const sigma = Number(parts[1] ?? Number.NaN);
    if (median === undefined || parts.length !== 2 || !(sigma >= 0 && sigma <= 5)) return undefined;
    return { sample: (random) => median * Math.exp(sigma * gaussian(random)) };
  },
  exponential(parts) {
    const [mean] = times(parts, 1);
    return mean === undefined ? undefined : { sample: (random) => -mean * Math.log(1 - random()) };
  },
};

/** All of them, or none when one is invalid or their number is wrong. */
function times(parts: string[], count: number): number[] {
  const read = parts.map(parseMilliseconds).filter((time) => time !== undefined);
  return read.length === count && parts.length === count ? read : [];
}

/** The Box–Muller method. */
function gaussian(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

const units = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 } as const;

/** `250`, `250ms`, `1.5s`, `2m`, `1h` → ms; anything else `undefined`. */
export function parseMilliseconds(text: string): number | undefined {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text.trim());
  if (found?.[1] === undefined) return undefined;
  return Number(found[1]) * units[(found[2] ?? 'ms') as keyof typeof units];
}
