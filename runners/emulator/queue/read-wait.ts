import { waitBoundsMs } from '../../../src/contract/limits.js';
import { Refusal } from '../http/refusal.js';

/** How long /runsync and /status-sync hold a request that says nothing else, in ms. */
export const defaultWaitMs = 90_000;

/**
 * Reads `?wait=`, in ms.
 * @throws Refusal 400 outside 1000–300000
 */
export function readWait(text: string | undefined): number {
  if (text === undefined) return defaultWaitMs;
  const { min, max } = waitBoundsMs;
  const wait = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (wait >= min && wait <= max) return wait;
  throw new Refusal(
    400,
    'wait is out of bounds',
    `wait takes ${min} to ${max} ms, not ${JSON.stringify(text)}`,
  );
}
