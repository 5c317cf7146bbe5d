import {
  adaptiveGate,
  publishedGate,
  rateGate,
  runpodRates,
} from '../../../src/policy/gates/built-in-gates.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import type { GateOptions } from '../../../src/policy/gates/endpoint-gate.js';

/** The gate of a run, by its rate: so many requests a second, the published limits, or what it finds out. */
export function gateFor(rate: number | 'runpod' | undefined, clock: GateOptions = {}): Gate {
  if (rate === undefined) return adaptiveGate(clock);
  return rate === 'runpod' ? publishedGate(runpodRates, clock) : rateGate(rate, clock);
}
