/**
 * What the retries of an endpoint may cost together, as in the AWS SDKs: a storm empties the bucket and retries cease, so
 * that a service that is down is not hammered. A request that gets through in the end gives back all that its retries
 * took: refusals at random never empty the bucket.
 */
export interface RetryQuota {
  /** Takes the tokens of one retry and says how many; `undefined`: not enough are left, do not retry. */
  take(retry: { timedOut: boolean }): number | undefined;
  /** A request succeeded. `taken` is what its retries took together, or nothing when it was the first try. */
  succeeded(taken?: number): void;
  /** Tokens left. */
  readonly tokens: number;
  /** No token is missing. */
  readonly isFull: boolean;
}

export interface RetryQuotaOptions {
  /** @defaultValue 500 */
  capacity?: number;
  /** Tokens of one retry. @defaultValue 5 */
  retryCost?: number;
  /** Tokens of one retry after a timeout. @defaultValue 10 */
  timeoutCost?: number;
  /** What a success without a retry gives back. @defaultValue 1 */
  successGain?: number;
}

export function createRetryQuota(options: RetryQuotaOptions = {}): RetryQuota {
  const { capacity = 500, retryCost = 5, timeoutCost = 10, successGain = 1 } = options;
  let tokens = capacity;
  return {
    take({ timedOut }) {
      const cost = timedOut ? timeoutCost : retryCost;
      if (cost > tokens) return undefined;
      tokens -= cost;
      return cost;
    },
    succeeded(taken = successGain) {
      tokens = Math.min(capacity, tokens + taken);
    },
    get tokens() {
      return tokens;
    },
    get isFull() {
      return tokens === capacity;
    },
  };
}
