import { asyncScheduler } from 'rxjs';
import type { Gate } from './gate.js';
import { createPace } from './pace.js';
import { createTurnstile } from './turnstile.js';
import type { GateOptions } from './turnstile.js';

/**
 * An open gate that also lets through at most `ratePerSecond` requests a second, of all kinds and all endpoints together
 * and evenly spaced; polls of accepted jobs go before new submissions.
 * @throws InvalidOptionError when the rate is no number above 0
 */
export function rateGate(ratePerSecond: number, options: GateOptions = {}): Gate {
  const shared = createPace(ratePerSecond, options.scheduler ?? asyncScheduler);
  return createTurnstile(options, { shared });
}
