import type { SchedulerLike } from 'rxjs';
import type { WaitReason } from '../contract/outcome.js';
import { AnswerWindow } from './answer-window.js';
import { backoff } from './backoff.js';
import { createCountdown } from './countdown.js';
import { isRefusal, type GateAnswer } from './gate.js';

/** So many answers in a row that are no answer (no reply, HTTP 5xx) make a storm. */
const stormAfter = 5;

/** A probe that was not refused within so many ms was taken: another one may follow, as work can last for minutes. */
const probeMs = 2_000;

export interface Block {
  why: WaitReason;
  forMs: number;
}

type Answered = Pick<GateAnswer, 'status' | 'retryAfterMs'>;

/**
 * The pause of an endpoint as a whole. It begins when half of the latest 20 answers are refusals, or in a storm; a single
 * refused request waits by itself. After the pause one probe at a time goes out until an answer is good. Every further
 * pause is longer, unless the service names the time.
 */
export interface EndpointPause {
  /** Why no request may pass now and for how long; `undefined`: one may. */
  blocked(): Block | undefined;
  /** A request passes. */
  passed(): void;
  /** Takes in an answer and returns what it changed. */
  observe(answer: Answered): 'paused' | 'opened' | undefined;
  /** Nothing that a new pause would not know as well: no pause, no probe. */
  readonly isIdle: boolean;
}

export function createEndpointPause(scheduler: SchedulerLike, random: () => number): EndpointPause {
  const pause = createCountdown(scheduler);
  const probe = createCountdown(scheduler);
  const latest = new AnswerWindow();
  let why: WaitReason = 'backoff';
  let recovering = false;
  let pauses = 0;
  let broken = 0;

  function begin(reason: WaitReason, askedMs = 0): 'paused' | undefined {
    const remainingMs = pause.remainingMs();
    if (remainingMs > 0 && askedMs <= remainingMs) return undefined;
    if (remainingMs === 0) pauses++;
    why = reason;
    recovering = true;
    probe.clear();
    pause.start(askedMs > 0 ? askedMs : backoff(pauses, random));
    return 'paused';
  }

  function refused(retryAfterMs: number | undefined): 'paused' | undefined {
    if (recovering) return begin('rate-limited', retryAfterMs);
    latest.add(true);
    return latest.isRefusing ? begin('rate-limited', retryAfterMs) : undefined;
  }

  function recover(): 'opened' | undefined {
    broken = 0;
    if (!recovering) latest.add(false);
    if (!recovering || pause.remainingMs() > 0) return undefined;
    latest.clear();
    recovering = false;
    pauses = 0;
    return 'opened';
  }

  return {
    blocked() {
      if (!recovering) return undefined;
      const pauseMs = pause.remainingMs();
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
      broken++;
      return recovering || broken >= stormAfter ? begin('backoff') : undefined;
    },
    get isIdle() {
      return !recovering;
    },
  };
}
