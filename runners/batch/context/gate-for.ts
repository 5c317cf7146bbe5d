import { adaptiveGate } from '../../../src/policy/adaptive-gate.js';
import type { Gate } from '../../../src/policy/gate.js';
import { publishedGate, runpodRates } from '../../../src/policy/published-gate.js';
import { rateGate } from '../../../src/policy/rate-gate.js';
import type { GateOptions } from '../../../src/policy/turnstile.js';

/** The gate of a run, by its rate: so many requests a second, the published limits, or what it finds out. */
export function gateFor(rate: number | 'runpod' | undefined, clock: GateOptions = {}): Gate {
  if (rate === undefined) return adaptiveGate(clock);
  return rate === 'runpod' ? publishedGate(runpodRates, clock) : rateGate(rate, clock);
}
