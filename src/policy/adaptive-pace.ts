import type { SchedulerLike } from 'rxjs';
import { createLastSecond } from './last-second.js';
import { createPace, type Pace } from './pace.js';
import { RefusalTrial } from './refusal-trial.js';

/** Answers up to so many ms after a change may belong to requests that left before it. */
const togetherMs = 1_000;
/** After a refusal the pace begins with so much of what is believed to be the service's rate. */
const caution = 0.9;
/** The same while it is tried whether refusals follow the rate: there they are gone if they do. */
const farBelow = 0.5;
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
const leastPerSecond = 1;
/** One cut leaves at least a fourth. */
const deepest = 4;
/** An average over less time says nothing. */
const longEnoughMs = 2_000;
const mostNoise = 0.9;

/** A pace that is found out: none until refusals (429) follow the rate, then a little less than what gets through, growing slowly. */
export interface AdaptivePace extends Pace {
  /** @param isPaused the endpoint as a whole begins a pause with this answer */
  observe(isRefused: boolean, isPaused?: boolean): void;
}

/**
 * Where refusals follow the rate, the service's rate lies between the average since the limit was met before and what
 * was tried last. The pace begins below, comes back slowly and leaves it behind ever faster, until it meets the limit
 * again. A cut that does not reduce the share of refusals is taken back: those are noise.
 */
export function createAdaptivePace(scheduler: SchedulerLike): AdaptivePace {
  return new SoughtPace(scheduler);
}

class SoughtPace implements AdaptivePace {
  private pace: Pace | undefined;
  private rate: number | undefined;
  private believed = 0;
  /** The pace began with this part of what is believed. */
  private begun = caution;
  private cuts = 0;
  private cutAt = -Infinity;
  /** What held before the latest cut, or before the first of several that follow each other. */
  private before:
    | {
        readonly rate: number | undefined;
        readonly believed: number;
        readonly triedMs: number;
        readonly cuts: number;
      }
    | undefined;
  private readonly trial = new RefusalTrial();
  /** Requests that are out, as far as their answers are reported. */
  private inFlight = 0;
  /** So many answers belong to requests that left before the latest change. */
  private earlier = 0;
  /** A request has passed since the latest cut, and so many were answered from then on. */
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
    if (this.hasResumed && hasWaited && !this.trial.isTrying)
      this.triedMs += Math.min(Math.max(now - this.passedAt, 0), togetherMs);
    this.hasResumed = true;
    this.isTried = hasWaited;
    this.passedAt = now;
    this.inFlight++;
    this.pace?.take(hasWaited);
  }

  observe(isRefused: boolean, isPaused = false): void {
    const now = this.scheduler.now();
    this.inFlight = Math.max(this.inFlight - 1, 0);
    this.lastSecond.add(now);
    if (!isRefused) this.answeredSince++;
    const isEarlier = this.earlier > 0 && Math.abs(now - this.cutAt) < togetherMs;
    this.earlier = isEarlier ? this.earlier - 1 : 0;
    if (isPaused) return this.paused(now);
    if (isEarlier || !this.hasResumed) return;
    if (!isRefused) this.answered++;
    const step = this.trial.observe(isRefused, this.isLow);
    if (step === 'lower') this.cut(now, caution, this.limitMet(now));
    else if (step === 'try') this.cut(now, farBelow, this.tried(now) * this.trial.throughBefore);
    else if (step === 'noise') this.takeBack(now);
    else if (step === 'load') this.goOn();
    else if (!isRefused && !this.trial.isTrying) this.grow();
  }

  /**
   * A pause that follows at once upon another one says nothing of the rate. A trial ends with it: what a service has saved
   * up in the pause would look like noise.
   */
  private paused(now: number): void {
    const isTooSoon = this.cuts > 0 && this.answered < fewest;
    if (isTooSoon) {
      if (this.trial.isTrying) this.trial.lowered();
      return this.changed(now);
    }
    const isLong = now - (this.since ?? now) >= longEnoughMs;
    const least = isLong ? Math.min(this.average(now) / 2, this.tried(now)) : 0;
    this.cut(now, caution, Math.max(this.tried(now) * this.trial.through, least));
    this.trial.lowered();
  }

  private cut(now: number, begun: number, believed: number): void {
    this.begun = begun;
    if (!this.isLow)
      this.before = { rate: this.rate, believed: this.believed, triedMs: this.triedMs, cuts: this.cuts };
    this.believed = Math.max(believed, this.tried(now) / deepest);
    this.cuts = (this.before?.cuts ?? 0) + 1;
    this.since = now;
    this.answeredSince = 0;
    this.triedMs = 0;
    this.changed(now);
    this.setRate(this.begun * this.believed);
  }

  /** Far below it was found out that the limit is real. */
  private goOn(): void {
    this.begun = caution;
    this.setRate(caution * this.believed);
  }

  private takeBack(now: number): void {
    const { before } = this;
    this.changed(now);
    if (before === undefined) return;
    const { rate, believed, triedMs, cuts } = before;
    this.cuts = cuts;
    this.believed = believed;
    this.triedMs = triedMs;
    if (rate === undefined) this.pace = this.rate = undefined;
    else this.setRate(rate);
  }

  private changed(now: number): void {
    this.cutAt = now;
    this.earlier = this.inFlight;
    this.answered = 0;
    this.hasResumed = false;
  }

  /** What the service takes. Where a limit is known, it lies between what got through since and what was tried last. */
  private limitMet(now: number): number {
    const got = this.tried(now) * this.trial.cautiousThrough;
    if (this.cuts === 0) return got;
    return Math.min(this.average(now), got) ** (1 - lately) * got ** lately;
  }

  /** The rate has not come back yet to where it was at the latest cut. */
  private get isLow(): boolean {
    return this.cuts > 0 && this.triedMs < this.regain();
  }

  private tried(now: number): number {
    const isRising = this.rate !== undefined && this.isTried;
    return Math.min(this.rate ?? Infinity, this.lastSecond.perSecond(now) * (isRising ? rise : 1));
  }

  private average(now: number): number {
    const elapsedMs = Math.max(now - (this.since ?? now), togetherMs);
    return (this.answeredSince * 1_000) / elapsedMs / (1 - this.noise);
  }

  private get noise(): number {
    return Math.min(this.trial.noise, mostNoise);
  }

  private regain(): number {
    return this.cuts > 1 ? regainMs.found : regainMs.guessed;
  }

  private grow(): void {
    if (this.rate === undefined) return;
    const grown = this.believed * (1 + (1 - this.begun) * (this.triedMs / this.regain() - 1) ** 3);
    if (grown > this.rate * step) this.setRate(grown);
  }

  private setRate(rate: number): void {
    this.rate = Math.max(rate, leastPerSecond);
    this.pace = createPace(this.rate, this.scheduler);
    // It begins with an interval, not with a request at once.
    this.pace.take();
  }
}
