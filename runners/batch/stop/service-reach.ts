/** The run stops when no request has got through for this long; a shorter outage may pass. */
const patienceMs = 120_000;

/**
 * Whether requests of a run get through to its service. The rows in flight share one answer to that: with 50 of them, each
 * with tries of its own and one probe at a time, a run would go on for an hour against a service that is away.
 */
export class ServiceReach {
  /** Answers that show that the service can be reached and takes requests. */
  answers = 0;
  /** Endpoints whose latest answer was none, or a refusal. */
  private readonly failingAt = new Set<string>();
  private failing: { readonly since: number; rounds: number; lastAt: number } | undefined;

  /** @param maxRetries extra tries of a row */
  constructor(private readonly maxRetries: number) {}

  /** @param endpoint its id, the empty string for routes */
  answered(endpoint = ''): void {
    this.answers += 1;
    this.failingAt.delete(endpoint);
    this.failing = undefined;
  }

  /**
   * Takes in a POST that was provably not accepted. Tries that were under way together count as one. Times in ms by one clock.
   *
   * @returns whether the run should stop: nothing got through for two minutes, and for as many tries as one row has
   */
  failed({ sentAt, at }: { readonly sentAt: number; readonly at: number }): boolean {
    this.failing ??= { since: at, rounds: 0, lastAt: Number.NEGATIVE_INFINITY };
    const { failing } = this;
    if (sentAt >= failing.lastAt) {
      failing.rounds += 1;
      failing.lastAt = at;
    }
    return failing.rounds > this.maxRetries && at - failing.since >= patienceMs;
  }

  /** Takes in that a request to an endpoint was refused, failed (5xx) or was not answered. */
  notAnswered(endpoint: string): void {
    this.failingAt.add(endpoint);
  }

  /** Whether the latest request to an endpoint was refused, failed or was not answered. */
  isFailing(endpoint: string): boolean {
    return this.failingAt.has(endpoint);
  }
}
