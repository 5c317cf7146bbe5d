import { unknownName } from '../../../src/contract/check-option.js';
import { type Latency, parseLatency } from './parse-latency.js';
import type { Clock } from '../clock.js';
import { EmulatorOptionError } from './emulator-option-error.js';
import { type FaultOf, parseFaults } from '../faults/parse-faults.js';
import type { FaultRule } from '../faults/fault.js';
import { parseRateLimit, type RateLimit } from '../faults/rate-limit.js';
import type { UserFunctions } from './user-functions.js';

/** Options of an emulator; all have a default. */
export interface EmulatorOptions {
  /** @defaultValue 0: a free port */
  port?: number | undefined;
  /** The interface to listen on. @defaultValue '127.0.0.1' */
  host?: string | undefined;
  /** The API key that it accepts. @defaultValue 'millrace-emulator-key' */
  key?: string | undefined;
  /** Path of a functions module. Its functions are added to the default ones; the same id or route replaces a default. */
  functionsFile?: string | undefined;
  /** Functions as an object; they replace those of the module. */
  functions?: UserFunctions | undefined;
  /** Jobs that run at once on each queue endpoint, from 1. @defaultValue 4 */
  workers?: number | undefined;
  /** How long a job runs, in ms or in the form of `parseLatency`. @defaultValue 0: as long as the function takes */
  latency?: number | string | Latency | undefined;
  /** Faults by probability, in the form of `parseFaults`. @defaultValue none */
  faults?: string | readonly FaultRule[] | undefined;
  /** Chooses the faults of a request, before `faults` are drawn: `'cut'`, `'429:2'`, `''` for none. */
  faultOf?: FaultOf | undefined;
  /** The seed of all random numbers. @defaultValue 1 */
  seed?: number | undefined;
  /** Requests a second, as a number or in the form of `parseRateLimit`. @defaultValue no limit */
  rateLimit?: number | string | RateLimit | undefined;
  /** The time from the first request to an endpoint until it has workers, in ms. @defaultValue 0 */
  coldStartMs?: number | undefined;
  /** A folder whose pictures image edits can read; `fileUrl` returns their addresses. @defaultValue none */
  files?: string | undefined;
  /** How many ended jobs are kept; beyond that the oldest are forgotten early. @defaultValue 20_000 */
  maxJobs?: number | undefined;
  /** With more waiting jobs than this, an endpoint answers submissions with 429. @defaultValue 100_000 */
  maxQueued?: number | undefined;
  /** How many bytes of edited pictures are kept; beyond that the oldest are removed early. @defaultValue 500_000_000 */
  maxPictureBytes?: number | undefined;
  /** The clock, for tests. @defaultValue the system's */
  clock?: Clock | undefined;
  /** Random numbers in [0, 1), instead of `seed`. */
  random?: (() => number) | undefined;
}

/** All options. The type makes sure that none is left out. */
const names: Readonly<Record<keyof EmulatorOptions, true>> = {
  port: true,
  host: true,
  key: true,
  functionsFile: true,
  functions: true,
  workers: true,
  latency: true,
  faults: true,
  faultOf: true,
  seed: true,
  rateLimit: true,
  coldStartMs: true,
  files: true,
  maxJobs: true,
  maxQueued: true,
  maxPictureBytes: true,
  clock: true,
  random: true,
};

/**
 * Parses the options that `serve` and `--local` take as text. A misspelt name is refused, because a rehearsal without its faults
 * would succeed.
 * @throws EmulatorOptionError
 */
export function readSettings(options: EmulatorOptions): {
  workers: number;
  latency: Latency;
  rules: readonly FaultRule[];
  rateLimit: RateLimit | undefined;
} {
  const { workers = 4, latency = '0', faults = [], rateLimit } = options;
  const unknown = unknownName(options, 'the emulator', Object.keys(names));
  if (unknown !== undefined) throw new EmulatorOptionError(`${unknown.name} ${unknown.problem}`);
  if (!Number.isInteger(workers) || workers < 1 || workers > 1_000)
    throw new EmulatorOptionError(`workers takes a whole number from 1 to 1000, not ${workers}`);
  return {
    workers,
    latency: readLatency(latency),
    rules: typeof faults === 'string' ? parseFaults(faults) : checkRules(faults),
    rateLimit:
      typeof rateLimit === 'object'
        ? rateLimit
        : rateLimit === undefined
          ? undefined
          : parseRateLimit(String(rateLimit)),
  };
}

/** A number is a time in ms. A wrong value would otherwise show itself only when the first job runs, outside any call. */
function readLatency(latency: number | string | Latency): Latency {
  if (typeof latency !== 'object') return parseLatency(String(latency));
  if (typeof (latency as Partial<Latency> | null)?.sample === 'function') return latency;
  throw new EmulatorOptionError('latency takes ms, text, or an object with a function `sample`');
}

function checkRules(rules: readonly FaultRule[]): readonly FaultRule[] {
  if (Symbol.iterator in Object(rules)) return rules;
  throw new EmulatorOptionError(
    'faults takes text, such as "429=0.1:2", or the list that parseFaults returns',
  );
}
