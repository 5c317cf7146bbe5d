import { type Latency, parseLatency } from './parse-latency.js';
import type { Clock } from '../clock.js';
import { EmulatorOptionError } from './emulator-option-error.js';
import { type FaultOf, parseFaults } from '../faults/parse-faults.js';
import type { FaultRule } from '../faults/fault.js';
import { parseRateLimit, type RateLimit } from '../faults/rate-limit.js';
import type { UserFunctions } from './user-functions.js';

/** How an emulator is set. Everything has a default. */
export interface EmulatorOptions {
  /** @defaultValue 0: a free port */
  port?: number | undefined;
  /** The interface to listen on. @defaultValue '127.0.0.1' */
  host?: string | undefined;
  /** The API key that it takes. @defaultValue 'millrace-emulator-key' */
  key?: string | undefined;
  /** A module of functions, added to the default ones; the same id or route replaces one of them. */
  functionsFile?: string | undefined;
  /** The same as an object; it comes after the module. */
  functions?: UserFunctions | undefined;
  /** Jobs at once on each queue endpoint, from 1. @defaultValue 4 */
  workers?: number | undefined;
  /** Working times, as `parseLatency` reads them. @defaultValue 0: as fast as the function is */
  latency?: string | Latency | undefined;
  /** Faults by probability, as `parseFaults` reads them. @defaultValue none */
  faults?: string | readonly FaultRule[] | undefined;
  /** Picks the faults of a request, before `faults` are drawn: `'cut'`, `'429:2'`, `''` for none. */
  faultOf?: FaultOf | undefined;
  /** The seed of all randomness. @defaultValue 1 */
  seed?: number | undefined;
  /** Requests a second, as a number or as `parseRateLimit` reads it. @defaultValue none */
  rateLimit?: number | string | RateLimit | undefined;
  /** From the first request to an endpoint until it has workers, in ms. @defaultValue 0 */
  coldStartMs?: number | undefined;
  /** A folder whose pictures are served to image edits; `fileUrl` names them. @defaultValue none */
  files?: string | undefined;
  /** Ended jobs that are kept; beyond it the oldest are forgotten before their time. @defaultValue 20_000 */
  maxJobs?: number | undefined;
  /** Waiting jobs of an endpoint, beyond which a submission gets 429. @defaultValue 100_000 */
  maxQueued?: number | undefined;
  /** Bytes of edited pictures that are kept; beyond it the oldest go before their time. @defaultValue 500_000_000 */
  maxPictureBytes?: number | undefined;
  /** Time, for tests. @defaultValue the system's */
  clock?: Clock | undefined;
  /** Chance in [0, 1), instead of `seed`. */
  random?: (() => number) | undefined;
}

/** Parses the options that `serve` and `--local` give as text. @throws EmulatorOptionError */
export function readSettings(options: EmulatorOptions): {
  workers: number;
  latency: Latency;
  rules: readonly FaultRule[];
  rateLimit: RateLimit | undefined;
} {
  const { workers = 4, latency = '0', faults = [], rateLimit } = options;
  if (!Number.isInteger(workers) || workers < 1 || workers > 1_000)
    throw new EmulatorOptionError(`workers takes a whole number from 1 to 1000, not ${workers}`);
  return {
    workers,
    latency: typeof latency === 'string' ? parseLatency(latency) : latency,
    rules: typeof faults === 'string' ? parseFaults(faults) : faults,
    rateLimit:
      typeof rateLimit === 'object'
        ? rateLimit
        : rateLimit === undefined
          ? undefined
          : parseRateLimit(String(rateLimit)),
  };
}
