/** Tokens of one retry, of one after a timeout, and those that a success without a retry gives back. */
const [retryCost, timeoutCost, successGain] = [5, 10, 1];

export type RetryQuota = ReturnType<typeof createRetryQuota>;

/**
 * A token bucket for all retries of an endpoint, as in the AWS SDKs: a storm of failures empties it, and retries stop, so that
 * a service that is down is not flooded. A request that succeeds in the end gives back all tokens of its retries, so that
 * random refusals never empty the bucket.
 *
 * @param capacity the tokens of a full bucket
 */
export function createRetryQuota(capacity = 500) {
  let tokens = capacity;
  return {
    /** Takes the tokens of one retry and returns how many; `undefined` if not enough are left: do not retry. */
    take({ timedOut }: { timedOut: boolean }): number | undefined {
      const cost = timedOut ? timeoutCost : retryCost;
      if (cost > tokens) return undefined;
      tokens -= cost;
      return cost;
    },
    /** Call it when a request succeeded. `taken`: the tokens that its retries took; absent if the first try succeeded. */
    succeeded(taken = successGain): void {
      tokens = Math.min(capacity, tokens + taken);
    },
    get tokens(): number {
      return tokens;
    },
    /** Whether no token is missing. */
    get isFull(): boolean {
      return tokens === capacity;
    },
  };
}
