import type { SchedulerLike } from 'rxjs';
import type { WaitReason } from '../../contract/outcome.js';
import { backoff } from '../retry-delay.js';
import { isRefusal, type GateAnswer } from './gate.js';

/** This many failures in a row (no reply, HTTP 5xx) make a storm. */
const stormAfter = 5;

/** A probe that was not refused within this many ms counts as accepted, so that the next may follow: its answer can take minutes. */
const probeMs = 2_000;

/** A longer pause lets a poll pass this often: the service keeps a result of /runsync for a minute. */
const longestForPollsMs = 30_000;

/** Why a request waits at a gate, and for how many ms. */
export interface GateWait {
  why: WaitReason;
  forMs: number;
}

/**
 * Pauses all requests to an endpoint. A pause begins when half of the latest 20 answers are refusals, or in a storm of
 * failures; a single refused request waits alone. After the pause one probe at a time is sent until an answer is good. Until
 * then each pause is longer than the last, unless the service names the time. A pause of minutes holds back submissions; polls
 * pass one at a time each half minute, and while their answers are good.
 */
export interface CircuitBreaker {
  /** Why no submission may pass now, or no poll or cancel (`isUrgent`), and for how long; `undefined` if one may. */
  blocked(isUrgent?: boolean): GateWait | undefined;
  /** Call it when a request passes. */
  passed(): void;
  /** Records an answer. Returns `paused` or `resumed` if it changes that, for polls alone where submissions still wait. */
  observe(answer: Pick<GateAnswer, 'status' | 'retryAfterMs'>): 'paused' | 'resumed' | undefined;
  /** Whether a new circuit breaker would behave the same: there is no pause and no probe. */
  readonly isIdle: boolean;
}

export function createCircuitBreaker(scheduler: SchedulerLike, random: () => number): CircuitBreaker {
  const pause = createCountdown(scheduler);
  const pauseForPolls = createCountdown(scheduler);
  const probe = createCountdown(scheduler);
  const latest = new AnswerWindow();
  let why: WaitReason = 'backoff';
  let recovering = false;
  let pauses = 0;
  let failures = 0;

  function begin(reason: WaitReason, askedMs = 0): 'paused' | undefined {
    const remainingMs = pause.remainingMs();
    if (remainingMs === 0 || pauseForPolls.remainingMs() === 0) pauseForPolls.start(longestForPollsMs);
    if (remainingMs > 0 && askedMs <= remainingMs) return undefined;
    if (remainingMs === 0) pauses++;
    why = reason;
    recovering = true;
    probe.clear();
    pause.start(askedMs > 0 ? askedMs : backoff(pauses, random));
    return 'paused';
  }

  const pauseFor = (isUrgent: boolean) =>
    Math.min(pause.remainingMs(), isUrgent ? pauseForPolls.remainingMs() : Infinity);

  function refused(retryAfterMs: number | undefined): 'paused' | undefined {
    if (recovering) return begin('rate-limited', retryAfterMs);
    latest.add(true);
    return latest.isRefusing ? begin('rate-limited', retryAfterMs) : undefined;
  }

  function recover(): 'resumed' | undefined {
    failures = 0;
    if (!recovering) latest.add(false);
    if (!recovering || pauseFor(true) > 0) return undefined;
    probe.clear();
    if (pauseFor(false) > 0) return 'resumed';
    latest.clear();
    recovering = false;
    pauses = 0;
    return 'resumed';
  }

  return {
    blocked(isUrgent = false) {
      if (!recovering) return undefined;
      const pauseMs = pauseFor(isUrgent);
      if (pauseMs > 0) return { why, forMs: pauseMs };
      const probeLeftMs = probe.remainingMs();
      return probeLeftMs > 0 ? { why: 'gate', forMs: probeLeftMs } : undefined;
    },
    passed() {
      if (recovering) probe.start(probeMs);
    },
    observe(answer) {
      if (isRefusal(answer)) return refused(answer.retryAfterMs);
      if (answer.status !== 0 && answer.status < 500) return recover();
      failures++;
      return recovering || failures >= stormAfter ? begin('backoff') : undefined;
    },
    get isIdle() {
      return !recovering;
    },
  };
}

/** A span of time by a scheduler's clock. If the clock is set back, the span starts again, so that it never lasts for hours. */
export function createCountdown(scheduler: SchedulerLike) {
  let startedAt = 0;
  let lengthMs = 0;
  return {
    start(ms: number): void {
      startedAt = scheduler.now();
      lengthMs = ms;
    },
    clear(): void {
      lengthMs = 0;
    },
    /** Milliseconds left; 0 if it is over or was never started. */
    remainingMs(): number {
      const now = scheduler.now();
      if (now < startedAt) startedAt = now;
      return Math.max(startedAt + lengthMs - now, 0);
    },
  };
}

/** The number of answers in the window. */
const size = 20;
/** The usual share is averaged over about this many answers. */
const memory = 100;
/** The average begins as if this many good answers had come before. */
const assumed = 5;
/** An unusual number of refusals is this many standard deviations above the usual one. */
const deviations = 4;
/** This many refusals in the window are always too many, whatever the usual share is. */
const alwaysTooMany = 18;

/**
 * The latest 20 answers of an endpoint. `isRefusing` if at least half of them are refusals, unless this may be chance at the
 * endpoint's usual share of refusals: with 30 % of random refusals, half of 20 are refused every few hundred answers. The usual
 * share is learned from answers that have left the window, and is 0 at first, so that a service that refuses all requests from
 * the start is refusing.
 */
export class AnswerWindow {
  /** A bit for each answer, the latest one lowest. */
  #bits = 0;
  #refused = 0;
  #answers = 0;
  #usual = 0;
  #earlier = assumed;

  add(isRefused: boolean): void {
    const bit = isRefused ? 1 : 0;
    const oldest = (this.#bits >>> (size - 1)) & 1;
    if (this.#answers === size) this.#learn(oldest);
    this.#answers = Math.min(this.#answers + 1, size);
    this.#refused += bit - oldest;
    this.#bits = ((this.#bits << 1) | bit) & ((1 << size) - 1);
  }

  /** Whether too many of the latest answers are refusals. */
  get isRefusing(): boolean {
    if (this.#refused < size / 2) return false;
    const usual = this.#usual;
    const chance = size * usual + deviations * Math.sqrt(size * usual * (1 - usual));
    return this.#refused >= Math.min(chance, alwaysTooMany);
  }

  /** Forgets the answers, but not the usual share. */
  clear(): void {
    this.#bits = 0;
    this.#refused = 0;
    this.#answers = 0;
  }

  #learn(bit: number): void {
    this.#earlier = Math.min(this.#earlier + 1, memory);
    this.#usual += (bit - this.#usual) / this.#earlier;
  }
}
