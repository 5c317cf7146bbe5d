import { RequestError, TimeoutError } from 'got';
import type { ClientFault } from './fault-of.js';
import type { FaultPhase } from './transport-error.js';

/** Reads what is needed of an error of got, or of zlib; nothing else of it goes any further. */
export function gotFault(
  error: unknown,
  connections: { neverConnected(error: unknown): boolean },
  responded: boolean,
): ClientFault {
  const origin: unknown = error instanceof RequestError ? (error.cause ?? error) : error;
  return {
    message: messageOf(origin),
    code: textOf(origin, 'code'),
    syscall: textOf(origin, 'syscall'),
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

/** Several addresses that all failed come as one error without a message. */
function messageOf(origin: unknown): string {
  if (origin instanceof AggregateError && origin.message === '') return messageOf(origin.errors[0]);
  return origin instanceof Error ? origin.message : '';
}

function textOf(origin: unknown, name: 'code' | 'syscall'): string | undefined {
  const value = (origin as Partial<Record<string, unknown>> | null)?.[name];
  return typeof value === 'string' ? value : undefined;
}
