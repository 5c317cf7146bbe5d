import type { Gate } from './gate.js';
import { createTurnstile } from './turnstile.js';
import type { GateOptions } from './turnstile.js';

/**
 * The default gate: no rate of its own, but one pause for all requests after a 429 (as long as Retry-After says, else
 * backoff) or in a storm of failures, and after it one probe at a time until an answer is good.
 */
export function openGate(options: GateOptions = {}): Gate {
  return createTurnstile(options);
}
