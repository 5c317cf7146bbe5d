import type { SchedulerLike } from 'rxjs';
import { createLastSecond, createRateLimiter, type RateLimiter } from './rate-limiter.js';
import { RefusalTrial } from './refusal-trial.js';

/** Answers up to this many ms after a change may belong to requests sent before it. */
const togetherMs = 1_000;
/** After a refusal the rate starts at this share of the service's estimated rate. */
const caution = 0.9;
/** The share during a trial, which checks whether refusals follow the rate: if they do, there are none at this share. */
const farBelow = 0.5;
/**
 * The rate is back at the whole estimated rate after this many ms: soon while that rate is a guess, later once it was refused
 * twice.
 */
const regainMs = { guessed: 500, found: 6_000 };
/** It also needs this many answers at the estimated rate, because coming back costs a few refusals each time. */
const regainAnswers = 100;
/** If fewer answers than this came since the last pause, a new pause only means that the last one was too short. */
const fewest = 3;
/** Weight of the rate just tried, relative to the average since the previous refusal. */
const lately = 0.8;
/** While the rate rises, the rate just tried is this many times the rate over the last second. */
const rise = 1.3;
/** The rate is only set again when it grows by more than this factor. */
const step = 1.01;
const leastPerSecond = 1;
/** One cut leaves at least a quarter. */
const deepest = 4;
/** An average over less time is not used. */
const longEnoughMs = 2_000;
const mostNoise = 0.9;

/**
 * Measures the service's rate: no limit until refusals (429) follow the rate. Then the service's rate is between the average
 * since the previous refusal and the rate just tried. The limiter starts below that, returns to it slowly, and then grows ever
 * faster until the next refusal. A cut that does not reduce the share of refusals is taken back, because they are noise.
 */
export class AdaptiveRateLimiter implements RateLimiter {
  #limiter: RateLimiter | undefined;
  #rate: number | undefined;
  /** The estimated rate of the service. */
  #believed = 0;
  /** The share of the estimated rate at which the rate started. */
  #startShare = caution;
  #cuts = 0;
  #cutAt = -Infinity;
  /** The state before the latest cut, or before the first of several successive cuts. */
  #before:
    | {
        readonly rate: number | undefined;
        readonly believed: number;
        readonly triedMs: number;
        readonly cuts: number;
      }
    | undefined;
  readonly #trial = new RefusalTrial();
  /** Requests that have passed and have no observed answer yet. */
  #inFlight = 0;
  /** How many answers may still come to requests that were sent before the latest change. */
  #earlier = 0;
  /** Whether a request has passed since the latest cut. */
  #hasResumed = true;
  /** Good answers since then. */
  #answered = 0;
  /** Where the average starts, and the good answers since. */
  #since: number | undefined;
  #answeredSince = 0;
  /** How long requests have waited for the rate since then: only waiting requests test the rate. */
  #triedMs = 0;
  #isTried = false;
  #passedAt = 0;
  readonly #lastSecond = createLastSecond();

  constructor(private readonly scheduler: SchedulerLike) {}

  get ratePerSecond(): number | undefined {
    return this.#rate;
  }

  waitMs(ahead?: number): number {
    return this.#limiter?.waitMs(ahead) ?? 0;
  }

  take(hasWaited = false, isPaused = false): void {
    const now = this.scheduler.now();
    this.#since ??= now;
    if (this.#hasResumed && hasWaited && !this.#trial.isTrying)
      this.#triedMs += Math.min(Math.max(now - this.#passedAt, 0), togetherMs);
    this.#hasResumed ||= !isPaused;
    this.#isTried = hasWaited;
    this.#passedAt = now;
    this.#inFlight++;
    this.#limiter?.take(hasWaited);
  }

  /** @param isPaused whether the whole endpoint begins a pause with this answer */
  observe(isRefused: boolean, isPaused = false): void {
    const now = this.scheduler.now();
    this.#inFlight = Math.max(this.#inFlight - 1, 0);
    this.#lastSecond.add(now);
    if (!isRefused) this.#answeredSince++;
    const isEarlier = this.#earlier > 0 && Math.abs(now - this.#cutAt) < togetherMs;
    this.#earlier = isEarlier ? this.#earlier - 1 : 0;
    if (isPaused) return this.#paused(now);
    if (isEarlier || !this.#hasResumed) return;
    if (!isRefused) this.#answered++;
    const step = this.#trial.observe(isRefused, this.#isLow);
    if (step === 'lower') this.#cut(now, caution, this.#limitMet(now));
    else if (step === 'try') this.#cut(now, farBelow, this.#tried(now) * this.#trial.throughBefore);
    else if (step === 'noise') this.#takeBack(now);
    else if (step === 'load') this.#goOn();
    else if (step === 'limit') this.#keepToAverage(now);
    else if (this.#rate !== undefined && !isRefused && !this.#trial.isTrying) this.#grow(this.#rate);
  }

  /**
   * A pause right after another one does not change the rate. A trial ends at a pause: a service that saved up tokens in
   * the pause would make its limit look like noise.
   */
  #paused(now: number): void {
    const isTooSoon = this.#cuts > 0 && this.#answered < fewest;
    if (isTooSoon) {
      if (this.#trial.isTrying) this.#trial.paused();
      return this.#changed(now);
    }
    const { through } = this.#trial;
    if (this.#trial.paused()) return this.#keepToAverage(now);
    const isLong = now - (this.#since ?? now) >= longEnoughMs;
    const least = isLong ? Math.min(this.#average(now) / 2, this.#tried(now)) : 0;
    this.#cut(now, caution, Math.max(this.#tried(now) * through, least));
  }

  #cut(now: number, startShare: number, believed: number): void {
    this.#startShare = startShare;
    if (!this.#isLow)
      this.#before = { rate: this.#rate, believed: this.#believed, triedMs: this.#triedMs, cuts: this.#cuts };
    this.#believed = Math.max(believed, this.#tried(now) / deepest);
    this.#cuts = (this.#before?.cuts ?? 0) + 1;
    this.#since = now;
    this.#answeredSince = 0;
    this.#triedMs = 0;
    this.#changed(now);
    this.#setRate(this.#startShare * this.#believed);
  }

  /** Called when the trial has shown that the limit is real. */
  #goOn(): void {
    this.#startShare = caution;
    this.#setRate(caution * this.#believed);
  }

  #takeBack(now: number): void {
    const before = this.#before;
    this.#changed(now);
    if (before === undefined) return;
    const { rate, believed, triedMs, cuts } = before;
    this.#cuts = cuts;
    this.#believed = believed;
    this.#triedMs = triedMs;
    if (rate === undefined) this.#limiter = this.#rate = undefined;
    else this.#setRate(rate);
  }

  /** Called when even the latest trial was above the limit: the service's rate is what it accepted since the trial began. */
  #keepToAverage(now: number): void {
    this.#cut(now, caution, this.#average(now));
    this.#before = { rate: this.#rate, believed: this.#believed, triedMs: 0, cuts: this.#cuts };
  }

  #changed(now: number): void {
    this.#cutAt = now;
    this.#earlier = this.#inFlight;
    this.#answered = 0;
    this.#hasResumed = false;
  }

  /** The estimated rate of the service. If a limit was reached before, it is between the average since then and the rate just tried. */
  #limitMet(now: number): number {
    const got = this.#tried(now) * this.#trial.cautiousThrough;
    if (this.#cuts === 0) return got;
    return Math.min(this.#average(now), got) ** (1 - lately) * got ** lately;
  }

  /** Whether the rate is still below the rate before the latest cut. */
  get #isLow(): boolean {
    return this.#cuts > 0 && this.#triedMs < this.#regain();
  }

  #tried(now: number): number {
    const isRising = this.#rate !== undefined && this.#isTried;
    return Math.min(this.#rate ?? Infinity, this.#lastSecond.perSecond(now) * (isRising ? rise : 1));
  }

  #average(now: number): number {
    const elapsedMs = Math.max(now - (this.#since ?? now), togetherMs);
    return (this.#answeredSince * 1_000) / elapsedMs / (1 - Math.min(this.#trial.noise, mostNoise));
  }

  #regain(): number {
    if (this.#cuts <= 1) return regainMs.guessed;
    return Math.max(regainMs.found, (regainAnswers * 1_000) / Math.max(this.#believed, leastPerSecond));
  }

  #grow(rate: number): void {
    const grown = this.#believed * (1 + (1 - this.#startShare) * (this.#triedMs / this.#regain() - 1) ** 3);
    if (grown > rate * step) this.#setRate(grown);
  }

  #setRate(rate: number): void {
    this.#rate = Math.max(rate, leastPerSecond);
    this.#limiter = createRateLimiter(this.#rate, this.scheduler);
    // The first request waits an interval.
    this.#limiter.take();
  }
}
