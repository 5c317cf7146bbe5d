import { RequestError, TimeoutError, type Delays } from 'got';
import { clampTimer } from '../../policy/client-clock.js';
import type { PhaseTimeouts } from '../transport.js';
import { type ClientFault, type FaultPhase, readClientError } from '../transport-error.js';

/** Copies the needed parts of an error of got or zlib, because the error itself must never leave the transport. */
export function gotFault(
  error: unknown,
  connections: { neverConnected: (error: unknown) => boolean },
  responded: boolean,
): ClientFault {
  const origin: unknown = error instanceof RequestError ? (error.cause ?? error) : error;
  return {
    ...readClientError(origin),
    timedOut: error instanceof TimeoutError ? timedOutPhase(error.event, responded) : undefined,
    neverConnected: connections.neverConnected(origin),
    responded,
  };
}

function timedOutPhase(event: string, responded: boolean): FaultPhase {
  if (event === 'secureConnect') return 'secure-connect';
  if (
    event === 'lookup' ||
    event === 'connect' ||
    event === 'send' ||
    event === 'response' ||
    event === 'read'
  )
    return event;
  return responded ? 'read' : 'response';
}

/**
 * Our limits under got's names. Got's `response` and `socket` do not end a reply that arrives byte by byte; `read` and
 * `request` do.
 */
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
