import { asyncScheduler } from 'rxjs';
import { createAdaptivePace } from './adaptive-pace.js';
import type { Gate } from './gate.js';
import { createTurnstile, type GateOptions } from './turnstile.js';

/**
 * An open gate that finds out the rate of the service: no limit until a request is refused with 429, then a little less
 * than what got through, growing slowly and then ever faster until the next refusal.
 */
export function adaptiveGate(options: GateOptions = {}): Gate {
  const pace = createAdaptivePace(options.scheduler ?? asyncScheduler);
  const gate = createTurnstile(options, pace);
  return {
    ...gate,
    get ratePerSecond() {
      return pace.ratePerSecond;
    },
    observe(answer) {
      pace.observe(answer.status);
      gate.observe(answer);
    },
  };
}
