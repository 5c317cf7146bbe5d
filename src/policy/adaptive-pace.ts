import type { SchedulerLike } from 'rxjs';
import { createLastSecond } from './last-second.js';
import { createPace, type Pace } from './pace.js';

/** Refusals of requests that left together are one. */
const togetherMs = 1_000;
/** After a refusal the pace begins with so much of what is believed to be the service's rate. */
const caution = 0.9;
/** It comes back to all of it after so many ms: soon while that is a guess, later once it was refused twice. */
const regainMs = { guessed: 500, found: 6_000 };
/** Fewer answers than that after a pause: the pause was too short, and says nothing of the rate. */
const fewest = 3;
/** What was tried last, against the average since the refusal before. */
const lately = 0.8;
/** While the pace rises, what was tried last is this much more than the last second has seen. */
const rise = 1.3;
/** A rate that has grown by less is left as it is. */
const step = 1.01;
const leastPerSecond = 0.2;

/** A pace that is found out: none until a request is refused (429), then a little less than what gets through, growing slowly. */
export interface AdaptivePace extends Pace {
  observe(status: number): void;
  /** Requests a second; `undefined` until one was refused. */
  readonly ratePerSecond: number | undefined;
}

/**
 * At a refusal the service's rate lies between the average since the refusal before, when it had nothing saved up
 * either, and what was tried last. The pace begins below, comes back slowly and leaves it behind ever faster, until the
 * next refusal.
 */
export function createAdaptivePace(scheduler: SchedulerLike): AdaptivePace {
  return new SoughtPace(scheduler);
}

class SoughtPace implements AdaptivePace {
  private pace: Pace | undefined;
  private rate: number | undefined;
  private believed = 0;
  private refusals = 0;
  private refusedAt = -Infinity;
  /** A request has passed since the latest refusal, and so many were answered from then on. */
  private hasResumed = true;
  private answered = 0;
  /** The average begins here, and so many were answered since. */
  private since: number | undefined;
  private answeredSince = 0;
  /** For so long requests have stood in line since: a rate that nobody asks for is not tried. */
  private triedMs = 0;
  private isTried = false;
  private passedAt = 0;
  private readonly lastSecond = createLastSecond();

  constructor(private readonly scheduler: SchedulerLike) {}

  get ratePerSecond(): number | undefined {
    return this.rate;
  }

  waitMs(ahead?: number): number {
    return this.pace?.waitMs(ahead) ?? 0;
  }

  take(hasWaited = false): void {
    const now = this.scheduler.now();
    this.since ??= now;
    if (this.hasResumed && hasWaited) this.triedMs += Math.min(Math.max(now - this.passedAt, 0), togetherMs);
    this.hasResumed = true;
    this.isTried = hasWaited;
    this.passedAt = now;
    this.pace?.take(hasWaited);
  }

  observe(status: number): void {
    const now = this.scheduler.now();
    if (status === 0) return;
    this.lastSecond.add(now);
    if (status === 429) return this.refused(now);
    this.answeredSince++;
    if (!this.hasResumed) return;
    this.answered++;
    this.grow();
  }

  private refused(now: number): void {
    if (Math.abs(now - this.refusedAt) < togetherMs) return;
    const isTooSoon = this.refusals > 0 && this.answered < fewest;
    this.refusedAt = now;
    this.answered = 0;
    this.hasResumed = false;
    if (isTooSoon) return;
    this.believed = this.estimate(now);
    this.refusals++;
    this.since = now;
    this.answeredSince = 0;
    this.triedMs = 0;
    this.setRate(caution * this.believed);
  }

  private estimate(now: number): number {
    const isRising = this.rate !== undefined && this.isTried;
    const tried = this.lastSecond.perSecond(now) * (isRising ? rise : 1);
    const atMost = Math.min(this.rate ?? Infinity, tried);
    if (this.refusals === 0) return atMost;
    const average = (this.answeredSince * 1_000) / Math.max(now - (this.since ?? now), togetherMs);
    return Math.min(average, atMost) ** (1 - lately) * atMost ** lately;
  }

  private grow(): void {
    if (this.rate === undefined) return;
    const regain = this.refusals > 1 ? regainMs.found : regainMs.guessed;
    const grown = this.believed * (1 + (1 - caution) * (this.triedMs / regain - 1) ** 3);
    if (grown > this.rate * step) this.setRate(grown);
  }

  private setRate(rate: number): void {
    this.rate = Math.max(rate, leastPerSecond);
    this.pace = createPace(this.rate, this.scheduler);
    // It begins with an interval, not with a request at once.
    this.pace.take();
  }
}
