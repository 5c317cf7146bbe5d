import { AdaptiveRateLimiter } from './adaptive-rate-limiter.js';
import type { CircuitBreaker, GateWait } from './circuit-breaker.js';
import { isRefusal, type GateAnswer } from './gate.js';
import type { RateLimiter } from './rate-limiter.js';

/** An endpoint without a request for this many ms may be forgotten to save memory, with its measured rate. */
const forgetAfterMs = 60_000;

/** The state of one endpoint at a gate: its circuit breaker, its rate if it has one, and its waiting requests. */
export class GatedEndpoint<Waiter> {
  readonly queue = createWaitingQueue<Waiter>();
  #usedAt = -Infinity;

  constructor(
    readonly breaker: CircuitBreaker,
    private readonly rate: RateLimiter | undefined,
  ) {}

  get ratePerSecond(): number | undefined {
    return this.rate?.ratePerSecond;
  }

  /** Why a request may not pass now, by default the first one that waits; `undefined` if it may. */
  blocked(isUrgent = this.queue.isUrgent, ahead = 0): GateWait | undefined {
    return this.breaker.blocked(isUrgent) ?? waitForRate(this.rate, ahead);
  }

  passed(now: number, hasWaited: boolean): void {
    this.#usedAt = now;
    const isPaused = this.breaker.blocked() !== undefined;
    this.breaker.passed();
    this.rate?.take(hasWaited, isPaused);
  }

  observe(answer: GateAnswer): 'paused' | 'resumed' | undefined {
    const change = this.breaker.observe(answer);
    if (answer.status !== 0 && this.rate instanceof AdaptiveRateLimiter) {
      const isRefused = isRefusal(answer);
      this.rate.observe(isRefused, change === 'paused' && isRefused);
    }
    return change;
  }

  wasUsed(now: number): boolean {
    return Math.abs(now - this.#usedAt) < forgetAfterMs;
  }

  isIdle(now: number): boolean {
    return this.queue.size === 0 && this.breaker.isIdle && !this.wasUsed(now);
  }
}

/** The wait until a rate admits a request after `ahead` others; `undefined` if it may pass now. */
export function waitForRate(rate: RateLimiter | undefined, ahead = 0): GateWait | undefined {
  const forMs = rate?.waitMs(ahead) ?? 0;
  return forMs > 0 ? { why: 'gate', forMs } : undefined;
}

/** Added to the arrivals of requests that are not urgent. Arrivals stay below it. */
const later = 2 ** 52;

/** The waiting requests of a gate: urgent ones first, each kind in order of arrival. */
export function createWaitingQueue<T>() {
  const urgentOnes = new Map<T, number>();
  const others = new Map<T, number>();
  return {
    get size(): number {
      return urgentOnes.size + others.size;
    },
    /** How many go before a new one. */
    ahead: (isUrgent: boolean) => (isUrgent ? urgentOnes.size : urgentOnes.size + others.size),
    /** @param arrival a number to compare between queues: the lower one came first */
    add(waiter: T, isUrgent: boolean, arrival = 0): void {
      (isUrgent ? urgentOnes : others).set(waiter, arrival);
    },
    delete: (waiter: T) => urgentOnes.delete(waiter) || others.delete(waiter),
    first(): T | undefined {
      for (const waiter of urgentOnes.keys()) return waiter;
      for (const waiter of others.keys()) return waiter;
      return undefined;
    },
    /** Arrival of the first one, lower for urgent ones than for all others; `Infinity` if none waits. */
    get firstArrival(): number {
      for (const arrival of urgentOnes.values()) return arrival;
      for (const arrival of others.values()) return later + arrival;
      return Infinity;
    },
    /** Whether the first one is urgent. */
    get isUrgent(): boolean {
      return urgentOnes.size > 0;
    },
    /** A copy of all waiters of one kind, in order. */
    all: (isUrgent: boolean) => [...(isUrgent ? urgentOnes : others).keys()],
  };
}
