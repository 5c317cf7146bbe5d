import { TransportError } from '../../src/transport/transport-error.js';
import type { WireRequest } from '../../src/transport/transport.js';
import type { VirtualClock } from './virtual-clock.js';

/** How a request is answered. */
export interface Reply {
  send(ms: number, status: number, body: unknown, headers?: Record<string, string>): void;
  break(ms: number, error: TransportError): void;
}

/** A request that is to be answered badly. */
export interface Exchange {
  readonly request: WireRequest;
  readonly reply: Reply;
  readonly latency: () => number;
  readonly clock: VirtualClock;
  readonly random: () => number;
}

/** It was provably not taken. */
export function refuse(exchange: Exchange): void {
  const { reply, latency, random } = exchange;
  const kind = pickFrom(['connect', 'lookup', 'too-many', 'too-many', 'busy'] as const, random);
  const ms = latency();
  if (kind === 'connect') return reply.break(ms, fault('connect', 'ECONNREFUSED', 'no'));
  if (kind === 'lookup') return reply.break(ms, fault('lookup', 'EAI_AGAIN', 'no'));
  if (kind === 'busy') return reply.send(ms, 503, { error: 'busy' }, { 'retry-after': '1' });
  tooMany({ ...exchange, latency: () => ms });
}

/** 429, with or without a Retry-After of any kind. */
export function tooMany({ reply, latency, clock, random }: Exchange): void {
  const date = new Date(clock.now + 3_000).toUTCString();
  const wait = pickFrom([undefined, '0', '1', '7', '-3', 'soon', date], random);
  reply.send(latency(), 429, { error: 'too many' }, wait === undefined ? {} : { 'retry-after': wait });
}

const unknowns = ['reset', 'cut', 'timeout', 'html', 'empty', 'null', '502', '500'] as const;

/** Nobody knows whether it was taken. `null` is an answer of a route. */
export function leaveUnknown({ request, reply, latency, random }: Exchange, isRoute: boolean): void {
  const ms = latency();
  switch (pickFrom(isRoute ? unknowns.filter((kind) => kind !== 'null') : unknowns, random)) {
    case 'reset':
      return reply.break(ms, fault('reset', 'ECONNRESET', 'maybe'));
    case 'cut':
      return reply.break(ms, fault('read', 'ECONNRESET', 'maybe'));
    case 'timeout':
      return reply.break(request.timeouts.responseMs, fault('response', 'ETIMEDOUT', 'maybe', true));
    case 'html':
      return reply.send(ms, 200, '<html>welcome</html>');
    case 'empty':
      return reply.send(ms, 200, '');
    case 'null':
      return reply.send(ms, 200, 'null');
    case '502':
      return reply.send(ms, 502, '<html>bad gateway</html>');
    case '500':
      return reply.send(ms, 500, '');
  }
}

/** What is free to repeat brings no answer. */
export function spoil({ request, reply, latency, random }: Exchange): void {
  const ms = latency();
  const kinds = ['reset', 'cut', 'connect', 'html', 'other', '500', '429', 'timeout'] as const;
  switch (pickFrom(kinds, random)) {
    case 'reset':
      return reply.break(ms, fault('reset', 'ECONNRESET', 'maybe'));
    case 'cut':
      return reply.break(ms, fault('read', 'ECONNRESET', 'maybe'));
    case 'connect':
      return reply.break(ms, fault('connect', 'ECONNREFUSED', 'no'));
    case 'html':
      return reply.send(ms, 200, '<html>');
    case 'other':
      return reply.send(ms, 200, '{"id":"another-one"');
    case '500':
      return reply.send(ms, 500, '');
    case '429':
      return reply.send(ms, 429, '', { 'retry-after': '1' });
    case 'timeout':
      return reply.break(request.timeouts.responseMs, fault('response', 'ETIMEDOUT', 'maybe', true));
  }
}

export function pickFrom<T>(values: readonly T[], random: () => number): T {
  return values[Math.floor(random() * values.length)]!;
}

export function fault(
  phase: TransportError['phase'],
  code: string,
  sent: 'no' | 'maybe',
  timedOut = false,
): TransportError {
  return new TransportError(phase, code, sent, timedOut, `${code} in virtual time`);
}
