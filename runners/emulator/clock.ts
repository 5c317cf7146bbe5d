/** The emulator's clock, so that a test can let seven days pass at once. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Calls `act` once after `ms`; the returned function cancels that. */
  readonly after: (ms: number, act: () => void) => () => void;
}

/** Node clamps longer timers to 1 ms. */
const longestTimer = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, act) {
    const timer = setTimeout(act, Math.min(Math.max(0, ms), longestTimer));
    return () => clearTimeout(timer);
  },
};

/** Resolves after `ms` of the clock; rejects with the signal's reason as soon as that aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(reasonOf(signal));
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      reject(reasonOf(signal));
    };
    signal?.addEventListener('abort', stop, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('aborted');
}

/** The same clock until the signal aborts. After that no timer fires, and none keeps the process alive. */
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
