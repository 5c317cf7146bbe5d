import { RequestError, TimeoutError } from 'got';
import { readClientError } from './client-error.js';
import type { ClientFault } from './fault-of.js';
import type { FaultPhase } from './transport-error.js';

/** Reads what is needed of an error of got, or of zlib; nothing else of it goes any further. */
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
