import type { Clock } from '../clock.js';

/** Tells whether no worker is there yet: the first request wakes one, and so many ms later it is ready. */
export function createColdStart(clock: Clock, ms: number): () => boolean {
  let readyAt = ms > 0 ? undefined : 0;
  return () => {
    readyAt ??= clock.now() + ms;
    return clock.now() < readyAt;
  };
}
