import { checkMembers, checkNames } from '../../contract/check-option.js';
import { lateClock } from '../client-clock.js';
import { AdaptiveRateLimiter } from './adaptive-rate-limiter.js';
import { createEndpointGate, type GateOptions } from './endpoint-gate.js';
import type { Gate, RequestKind } from './gate.js';
import { createRateLimiter } from './rate-limiter.js';

/**
 * The default gate: no rate limit. A single refused request (429) waits alone. All requests to an endpoint pause when half of
 * its latest 20 answers are refusals (for the time in Retry-After, or else with backoff), or in a storm of failures. After a
 * pause one probe at a time is sent until an answer is good. Other endpoints are not affected.
 */
export function openGate(options: GateOptions = {}): Gate {
  return createEndpointGate(clockOf(options));
}

/**
 * An open gate that also admits at most `ratePerSecond` requests a second, evenly spaced, of all kinds and endpoints together.
 * Polls of accepted jobs go before new submissions.
 * @throws InvalidOptionError if the rate is not a number above 0
 */
export function rateGate(ratePerSecond: number, options: GateOptions = {}): Gate {
  const clock = clockOf(options);
  return createEndpointGate(clock, { shared: createRateLimiter(ratePerSecond, clock.scheduler) });
}

/** Requests a second for each kind. */
export type KindRates = Readonly<Record<RequestKind, number>>;

/**
 * The published limits of the live service per user and endpoint: 1000 submissions, 2000 status requests and 100 cancellations
 * in 10 s; less one per cent, because clocks differ.
 */
export const runpodRates: KindRates = { submit: 99, poll: 198, cancel: 9.9, other: 9.9 };

/**
 * An open gate with a separate rate for each kind of request to each endpoint. A pause holds back all kinds of an endpoint.
 * @throws InvalidOptionError if a rate is not a number above 0
 */
export function publishedGate(rates: KindRates = runpodRates, options: GateOptions = {}): Gate {
  const clock = clockOf(options);
  checkMembers('rates', rates, 'rate a kind', ['submit', 'poll', 'cancel', 'other']);
  const gateOf = (kind: RequestKind): Gate => {
    const create = () => createRateLimiter(rates[kind], clock.scheduler);
    create(); // throws now, and not at the first request
    return createEndpointGate(clock, { own: create });
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
    useClock: (given) => clock.use(given),
  };
}

/**
 * An open gate that measures the rate of each endpoint: no limit until refusals (429) follow the rate, then a little less than
 * the endpoint accepted, growing slowly and then ever faster until the next refusals. If slowing down does not reduce refusals,
 * they are noise and do not slow it down. Its `ratePerSecond` is the sum of the measured rates.
 */
export function adaptiveGate(options: GateOptions = {}): Gate {
  const clock = clockOf(options);
  return createEndpointGate(clock, { own: () => new AdaptiveRateLimiter(clock.scheduler) });
}

function clockOf(options: GateOptions) {
  checkNames(options, 'a gate', ['scheduler', 'random']);
  return lateClock(options);
}
