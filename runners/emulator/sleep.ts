import type { Clock } from './clock.js';

/** Resolves after so many ms of the clock; rejects with the signal's reason as soon as that aborts. */
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
