import { Observable } from 'rxjs';
import { Agent } from 'undici';
import type { Transport, WireRequest } from './transport.js';
import { createConnect } from './undici-connect.js';
import type { ConnectOptions } from './undici-connect.js';
import { Exchange } from './undici-exchange.js';
import type { Line } from './undici-exchange.js';

/** How connections are kept and trusted. */
export type UndiciTransportOptions = ConnectOptions;

/** undici's timers are late by up to a second: a paying connection is never older than 3 s when it is used again. */
const maxPaidIdleMs = 2_000;

/**
 * The same transport on undici, at about a quarter of the CPU of got. Needs the package `undici`. Time for sending a
 * large body is granted on top of the time for the response, as undici does not tell the two apart.
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): Transport {
  const lineFor = createLines(options);
  return (request) =>
    new Observable((subscriber) => {
      const exchange = new Exchange(request, lineFor(request), subscriber);
      exchange.send();
      return () => exchange.abandon();
    });
}

/** Connections are shared by the requests with the same limits for connecting; those that buy work keep to themselves. */
function createLines(options: ConnectOptions): (request: WireRequest) => Line {
  const lines = new Map<string, Line>();
  return ({ paid, timeouts }) => {
    const { lookupMs, connectMs, secureConnectMs } = timeouts;
    const name = `${paid} ${lookupMs} ${connectMs} ${secureConnectMs}`;
    const known = lines.get(name);
    if (known) return known;
    const { connect, neverConnected } = createConnect(options, timeouts);
    const idle = paid && { keepAliveTimeout: maxPaidIdleMs, keepAliveMaxTimeout: maxPaidIdleMs };
    const line = {
      neverConnected,
      agent: new Agent({ connect, headersTimeout: 0, bodyTimeout: 0, ...idle }),
    };
    lines.set(name, line);
    return line;
  };
}
