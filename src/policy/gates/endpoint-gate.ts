import { Observable, type SchedulerLike, type Subscriber, type Subscription } from 'rxjs';
import { clampTimer, lateClock, type Clock } from '../client-clock.js';
import { createCircuitBreaker, type GateWait } from './circuit-breaker.js';
import { EndpointMap } from './endpoint-map.js';
import type { Gate, GateAnswer, GateRequest } from './gate.js';
import { GatedEndpoint, waitForRate } from './gated-endpoint.js';
import type { RateLimiter } from './rate-limiter.js';

/** The clock and the random numbers of a gate. */
export interface GateOptions {
  /** The clock. @defaultValue that of the first client that uses the gate */
  scheduler?: SchedulerLike | undefined;
  /** From 0 to 1. @defaultValue that of the first client that uses the gate */
  random?: (() => number) | undefined;
}

/** The rates of a gate; without any, only circuit breakers hold requests back. */
export interface GateRates {
  /** For all endpoints together. */
  readonly shared?: RateLimiter;
  /** Creates the rate limiter of one endpoint. */
  readonly own?: () => RateLimiter;
}

/** Shorter waits for the rate or for a probe, in ms, are not reported. */
const reportFromMs = 1_000;

/** A gate that reports how long its endpoints pause. */
export interface EndpointGate extends Gate {
  /** Ms until the first of the endpoints that were used within the last minute ends its pause; 0 if one of them does not pause. */
  pausedMs(): number;
}

type Waiter = Subscriber<GateWait>;
type Endpoint = GatedEndpoint<Waiter>;

/**
 * The base of all built-in gates: a circuit breaker and optionally a rate for each endpoint, and optionally a rate for all.
 * Polls and cancels pass before new submissions. Its methods do not use `this`, because callers spread a gate to replace one of
 * them.
 */
export function createEndpointGate(options: GateOptions, rates: GateRates = {}): EndpointGate {
  const clock = lateClock(options);
  const gate = new RatedGate(clock, rates);
  return {
    get ratePerSecond() {
      return gate.ratePerSecond;
    },
    admit: gate.admit,
    tryPass: gate.tryPass,
    observe: gate.observe,
    useClock: (given) => clock.use(given),
    pausedMs: gate.pausedMs,
  };
}

class RatedGate {
  readonly #scheduler: SchedulerLike;
  readonly #endpoints: EndpointMap<Endpoint>;
  /** Endpoints that requests wait for. */
  readonly #crowded = new Set<Endpoint>();
  readonly #shared: RateLimiter | undefined;
  #arrivals = 0;
  #alarm: Subscription | undefined;
  #alarmAt = 0;
  #isReleasing = false;
  /** Whether the alarm is for a rate and not for a pause: the rate makes up for a timer that fires late. */
  #isForRate = false;

  constructor({ scheduler, random }: Clock, { shared, own }: GateRates) {
    this.#scheduler = scheduler;
    this.#shared = shared;
    this.#endpoints = new EndpointMap(
      () => new GatedEndpoint(createCircuitBreaker(scheduler, random), own?.()),
      (endpoint) => endpoint.isIdle(scheduler.now()),
    );
  }

  get ratePerSecond(): number | undefined {
    if (this.#shared !== undefined) return this.#shared.ratePerSecond;
    let sum: number | undefined;
    for (const { ratePerSecond } of this.#endpoints.values())
      if (ratePerSecond !== undefined) sum = (sum ?? 0) + ratePerSecond;
    return sum;
  }

  readonly admit = (request: GateRequest): Observable<GateWait> =>
    new Observable((waiter) => this.#enter(waiter, request));

  readonly tryPass = (request: GateRequest): boolean => {
    const endpoint = this.#endpoints.of(request);
    const urgent = request.kind !== 'submit';
    if (this.#isReleasing || (this.#crowded.size > 0 && this.#isBehind(endpoint, urgent))) return false;
    if (endpoint.blocked(urgent) !== undefined) return false;
    if (this.#shared !== undefined && waitForRate(this.#shared) !== undefined) return false;
    this.#pass(endpoint, false);
    return true;
  };

  readonly observe = (answer: GateAnswer): void => {
    const endpoint = this.#endpoints.of(answer);
    const change = endpoint.observe(answer);
    if (change === 'resumed') this.#release();
    if (change !== 'paused') return;
    for (const urgent of [true, false]) {
      const wait = endpoint.breaker.blocked(urgent);
      if (wait) for (const waiter of endpoint.queue.all(urgent)) report(waiter, wait);
    }
  };

  readonly pausedMs = (): number => {
    const now = this.#scheduler.now();
    let leastMs = Infinity;
    for (const endpoint of this.#endpoints.values())
      if (endpoint.wasUsed(now)) leastMs = Math.min(leastMs, endpoint.breaker.blocked()?.forMs ?? 0);
    return leastMs === Infinity ? 0 : leastMs;
  };

  #enter(waiter: Waiter, request: GateRequest): void {
    if (this.tryPass(request)) return waiter.complete();
    const endpoint = this.#endpoints.of(request);
    const urgent = request.kind !== 'submit';
    const wait =
      endpoint.blocked(urgent, endpoint.queue.ahead(urgent)) ??
      waitForRate(this.#shared, this.#aheadAtAll(urgent));
    endpoint.queue.add(waiter, urgent, this.#arrivals++);
    this.#crowded.add(endpoint);
    waiter.add(() => {
      this.#leave(waiter, endpoint);
      if (!this.#isReleasing) this.#setAlarm();
    });
    if (!this.#isReleasing) this.#setAlarm();
    if (wait) report(waiter, wait);
  }

  #leave(waiter: Waiter, endpoint: Endpoint): void {
    endpoint.queue.delete(waiter);
    if (endpoint.queue.size === 0) this.#crowded.delete(endpoint);
  }

  #pass(endpoint: Endpoint, hasWaited: boolean): void {
    endpoint.passed(this.#scheduler.now(), hasWaited);
    this.#shared?.take(hasWaited);
  }

  /** Whether waiting requests go before this one. */
  #isBehind(endpoint: Endpoint, urgent: boolean): boolean {
    return endpoint.queue.ahead(urgent) > 0 || (this.#shared !== undefined && this.#aheadAtAll(urgent) > 0);
  }

  /** How many requests, of all endpoints, wait for the shared rate and go before a new one. */
  #aheadAtAll(urgent: boolean): number {
    let ahead = 0;
    for (const { breaker, queue } of this.#crowded) {
      // During a long pause only polls pass.
      const areAll = !urgent && breaker.blocked() === undefined;
      if (areAll || breaker.blocked(true) === undefined) ahead += queue.ahead(!areAll);
    }
    return ahead;
  }

  /** Sets the timer, but only while a request waits, so that a pause never keeps a process alive. */
  #setAlarm(): void {
    if (this.#crowded.size === 0) {
      this.#alarm?.unsubscribe();
      this.#alarm = undefined;
      return;
    }
    let waitMs = Infinity;
    let isForRate = false;
    for (const endpoint of this.#crowded) {
      const forMs = Math.max(endpoint.blocked()?.forMs ?? 0, waitForRate(this.#shared)?.forMs ?? 0);
      if (forMs >= waitMs) continue;
      waitMs = forMs;
      isForRate = endpoint.breaker.blocked(endpoint.queue.isUrgent) === undefined;
    }
    const at = this.#scheduler.now() + waitMs;
    if (this.#alarm !== undefined && this.#alarmAt <= at) return;
    this.#alarm?.unsubscribe();
    this.#alarmAt = at;
    this.#isForRate = isForRate;
    this.#alarm = this.#scheduler.schedule(() => this.#release(), clampTimer(Math.ceil(waitMs)));
  }

  /** Lets all requests pass that may pass now. Nested calls return at once, because this loop also handles their requests. */
  #release(): void {
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    this.#alarm?.unsubscribe();
    this.#alarm = undefined;
    for (let endpoint = this.#next(); endpoint; endpoint = this.#next()) {
      const waiter = endpoint.queue.first();
      if (waiter === undefined) break;
      this.#leave(waiter, endpoint);
      this.#pass(endpoint, this.#isForRate);
      waiter.complete();
    }
    this.#isReleasing = false;
    this.#setAlarm();
  }

  /** The endpoint whose first request may pass now: polls before submissions, then in order of arrival. */
  #next(): Endpoint | undefined {
    if (waitForRate(this.#shared) !== undefined) return undefined;
    let best: Endpoint | undefined;
    for (const endpoint of this.#crowded) {
      if (best !== undefined && endpoint.queue.firstArrival > best.queue.firstArrival) continue;
      if (endpoint.blocked() === undefined) best = endpoint;
    }
    return best;
  }
}

function report(waiter: Waiter, wait: GateWait): void {
  if (wait.why !== 'gate' || wait.forMs >= reportFromMs) waiter.next(wait);
}
