import type { SchedulerLike } from 'rxjs';

/** A span of time by a scheduler's clock that survives a clock set back: it then begins anew, and never lasts for hours. */
export interface Countdown {
  start(ms: number): void;
  clear(): void;
  /** Milliseconds left, 0 when it is over or was never started. */
  remainingMs(): number;
}

export function createCountdown(scheduler: SchedulerLike): Countdown {
  let startedAt = 0;
  let lengthMs = 0;
  return {
    start(ms) {
      startedAt = scheduler.now();
      lengthMs = ms;
    },
    clear() {
      lengthMs = 0;
    },
    remainingMs() {
      const now = scheduler.now();
      if (now < startedAt) startedAt = now;
      return Math.max(startedAt + lengthMs - now, 0);
    },
  };
}
