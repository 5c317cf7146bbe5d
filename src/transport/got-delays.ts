import type { Delays } from 'got';
import { clampTimer } from '../policy/clamp-timer.js';
import type { PhaseTimeouts } from './transport.js';

/** Our limits under got's names. Its `response` and `socket` do not stop a drip of single bytes; `read` and `request` do. */
export function gotDelays(timeouts: PhaseTimeouts): Delays {
  return {
    lookup: clampTimer(timeouts.lookupMs),
    connect: clampTimer(timeouts.connectMs),
    secureConnect: clampTimer(timeouts.secureConnectMs),
    send: clampTimer(timeouts.sendMs),
    response: clampTimer(timeouts.responseMs),
    read: clampTimer(timeouts.readMs),
    request: clampTimer(timeouts.requestMs),
  };
}
