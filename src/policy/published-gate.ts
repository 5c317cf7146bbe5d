import { asyncScheduler } from 'rxjs';
import type { Gate, RequestKind } from './gate.js';
import { createPace } from './pace.js';
import { createTurnstile, type GateOptions } from './turnstile.js';

/** Requests a second for each kind. */
export type KindRates = Readonly<Record<RequestKind, number>>;

/**
 * What the live service publishes for a user and an endpoint: 1000 submissions, 2000 status requests and 100
 * cancellations in 10 s. One per cent is left over, as clocks differ.
 */
export const runpodRates: KindRates = { submit: 99, poll: 198, cancel: 9.9, other: 9.9 };

/**
 * An open gate with a rate of its own for each kind of request to each endpoint; a pause holds all kinds of an endpoint back.
 * @throws InvalidOptionError when a rate is no number above 0
 */
export function publishedGate(rates: KindRates = runpodRates, options: GateOptions = {}): Gate {
  const { scheduler = asyncScheduler } = options;
  const gateOf = (kind: RequestKind): Gate => {
    createPace(rates[kind], scheduler);
    return createTurnstile(options, { own: () => createPace(rates[kind], scheduler) });
  };
  const gates: Record<RequestKind, Gate> = {
    submit: gateOf('submit'),
    poll: gateOf('poll'),
    cancel: gateOf('cancel'),
    other: gateOf('other'),
  };
  return {
    admit: (request) => gates[request.kind].admit(request),
    tryPass: (request) => gates[request.kind].tryPass?.(request) ?? false,
    observe(answer) {
      for (const gate of Object.values(gates)) gate.observe(answer);
    },
  };
}
