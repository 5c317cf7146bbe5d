import { asyncScheduler } from 'rxjs';
import { createAdaptivePace } from './adaptive-pace.js';
import type { Gate } from './gate.js';
import { createTurnstile, type GateOptions } from './turnstile.js';

/**
 * An open gate that finds out the rate of each endpoint: no limit until refusals (429) follow the rate, then a little
 * less than what got through, growing slowly and then ever faster until the next refusals. Refusals that slowing down
 * does not reduce are noise, and do not slow it down. Its `ratePerSecond` is the sum of the rates found.
 */
export function adaptiveGate(options: GateOptions = {}): Gate {
  const { scheduler = asyncScheduler } = options;
  return createTurnstile(options, { own: () => createAdaptivePace(scheduler) });
}
