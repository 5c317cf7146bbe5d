import type { SchedulerLike } from 'rxjs';
import type { WaitReason } from '../contract/outcome.js';
import { backoff } from './backoff.js';
import { createCountdown } from './countdown.js';
import type { Gate } from './gate.js';

/** So many answers in a row that are no answer (no reply, HTTP 5xx) make a storm. */
const stormAfter = 5;

/** A probe that was not refused for so long in ms was taken: another one may follow, as work can last for minutes. */
const probeMs = 2_000;

export interface Block {
  why: WaitReason;
  forMs: number;
}

/**
 * The pause that all requests of a run share. It begins with a 429, a 503 that names a time, or a storm; after it one
 * probe at a time goes out until an answer is good. Every further pause is longer, unless the service names the time.
 */
export interface SharedPause {
  /** Why nobody may pass now and for how long; `undefined`: somebody may. */
  blocked(): Block | undefined;
  /** Somebody passes. */
  passed(): void;
  /** Takes in an answer and says what it changed. */
  observe(answer: Parameters<Gate['observe']>[0]): 'paused' | 'opened' | undefined;
}

export function createSharedPause(scheduler: SchedulerLike, random: () => number): SharedPause {
  const pause = createCountdown(scheduler);
  const probe = createCountdown(scheduler);
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

  function recover(): 'opened' | undefined {
    broken = 0;
    if (!recovering || pause.remainingMs() > 0) return undefined;
    recovering = false;
    pauses = 0;
    return 'opened';
  }

  return {
    blocked() {
      const pauseMs = pause.remainingMs();
      if (pauseMs > 0) return { why, forMs: pauseMs };
      const probeLeftMs = recovering ? probe.remainingMs() : 0;
      return probeLeftMs > 0 ? { why: 'gate', forMs: probeLeftMs } : undefined;
    },
    passed() {
      if (recovering) probe.start(probeMs);
    },
    observe({ status, retryAfterMs }) {
      if (status === 429 || (status === 503 && retryAfterMs !== undefined))
        return begin('rate-limited', retryAfterMs);
      if (status !== 0 && status < 500) return recover();
      broken++;
      return recovering || broken >= stormAfter ? begin('backoff') : undefined;
    },
  };
}
