import type { Gate } from './gate.js';
import { createTurnstile } from './turnstile.js';
import type { GateOptions } from './turnstile.js';

/**
 * The default gate: no rate. A single refused request (429) waits by itself; an endpoint pauses as a whole when half of
 * its latest 20 answers are refusals (as long as Retry-After says, else backoff) or in a storm of failures. After a pause
 * one probe at a time goes out until an answer is good. Other endpoints go on.
 */
export function openGate(options: GateOptions = {}): Gate {
  return createTurnstile(options);
}
