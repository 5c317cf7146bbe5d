import { EmulatorOptionError } from '../settings/emulator-option-error.js';

/** How many requests with a key are answered, all operations together. */
export interface RateLimit {
  /** Requests a second, on average and as a burst. */
  perSecond: number;
  /** Whether the 429 has a Retry-After. */
  retryAfter: boolean;
}

/**
 * Reads `100`, or `100:retry-after` for a 429 that carries Retry-After.
 * @throws EmulatorOptionError
 */
export function parseRateLimit(text: string): RateLimit {
  const [rate = '', flag] = text.trim().split(/:(.*)/s);
  const perSecond = Number(rate);
  if (
    rate === '' ||
    !(perSecond > 0 && perSecond < Infinity) ||
    (flag !== undefined && flag !== 'retry-after')
  )
    throw new EmulatorOptionError(
      `rate limit ${JSON.stringify(text)} is neither a number of requests a second nor 100:retry-after`,
    );
  return { perSecond, retryAfter: flag !== undefined };
}

/** A token bucket: takes a token and returns 0, or returns the ms until there is one. */
export function createRateLimiter(limit: RateLimit, now: () => number): () => number {
  const capacity = Math.max(1, limit.perSecond);
  let tokens = capacity;
  let at = now();
  return () => {
    const time = now();
    tokens = Math.min(capacity, tokens + (Math.max(0, time - at) / 1_000) * limit.perSecond);
    at = time;
    if (tokens < 1) return Math.ceil(((1 - tokens) / limit.perSecond) * 1_000);
    tokens -= 1;
    return 0;
  };
}
