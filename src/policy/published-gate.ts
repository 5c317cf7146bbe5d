import type { Gate, RequestKind } from './gate.js';
import { rateGate } from './rate-gate.js';
import type { GateOptions } from './turnstile.js';

/** Requests a second for each kind. */
export type KindRates = Readonly<Record<RequestKind, number>>;

/**
 * What the live service publishes for a user and an endpoint: 1000 submissions, 2000 status requests and 100
 * cancellations in 10 s. One per cent is left over, as clocks differ.
 */
export const runpodRates: KindRates = { submit: 99, poll: 198, cancel: 9.9, other: 9.9 };

/** An open gate with a rate of its own for each kind of request; a 429 of any kind holds all of them back. */
export function publishedGate(rates: KindRates = runpodRates, options: GateOptions = {}): Gate {
  const gates: Record<RequestKind, Gate> = {
    submit: rateGate(rates.submit, options),
    poll: rateGate(rates.poll, options),
    cancel: rateGate(rates.cancel, options),
    other: rateGate(rates.other, options),
  };
  return {
    admit: (request) => gates[request.kind].admit(request),
    tryPass: (request) => gates[request.kind].tryPass?.(request) ?? false,
    observe(answer) {
      for (const gate of Object.values(gates)) gate.observe(answer);
    },
  };
}
