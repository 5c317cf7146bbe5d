import type { Clock } from './clock.js';

/** The same clock until the signal aborts: then nothing that was set goes off any more, and no timer holds the process. */
export function closableClock(clock: Clock, closing: AbortSignal): Clock {
  const pending = new Set<() => void>();
  const cancelAll = (): void => {
    for (const cancel of pending) cancel();
    pending.clear();
  };
  closing.addEventListener('abort', cancelAll, { once: true });
  return {
    now: clock.now,
    after(ms, act) {
      if (closing.aborted) return () => undefined;
      const cancel = clock.after(ms, () => {
        pending.delete(cancel);
        act();
      });
      pending.add(cancel);
      return () => {
        pending.delete(cancel);
        cancel();
      };
    },
  };
}
