import { Observable } from 'rxjs';
import type { Transport, WireRequest } from '../transport.js';
import { Connections, type ConnectOptions, createConnect } from './undici-connections.js';
import { Exchange, type Connector } from './undici-exchange.js';

/** How connections are kept and trusted. */
export interface UndiciTransportOptions extends ConnectOptions {
  /** A clock in ms that never goes back. @defaultValue performance.now */
  now?: (() => number) | undefined;
}

/**
 * The same transport over undici, with about a quarter of the CPU of got. Needs the package `undici`. The time limit for
 * sending a large body is added to that for the response, because undici does not distinguish them.
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): Transport {
  const connectorFor = createConnectors(options);
  return (request) =>
    new Observable((subscriber) => {
      const exchange = new Exchange(request, connectorFor(request), subscriber);
      exchange.send();
      return () => exchange.abandon();
    });
}

/** Requests with the same limits for connecting share connections. */
function createConnectors(options: UndiciTransportOptions): (request: WireRequest) => Connector {
  const connectors = new Map<string, Connector>();
  const now = options.now ?? (() => performance.now());
  return ({ timeouts }) => {
    const { lookupMs, connectMs, secureConnectMs } = timeouts;
    const name = `${lookupMs} ${connectMs} ${secureConnectMs}`;
    const known = connectors.get(name);
    if (known) return known;
    const { connect, neverConnected } = createConnect(options, timeouts);
    const hosts = new Map<string, Connections>();
    const to = (origin: string): Connections => {
      const connections = hosts.get(origin) ?? new Connections(origin, { connect, now });
      hosts.set(origin, connections);
      return connections;
    };
    const connector = { neverConnected, to };
    connectors.set(name, connector);
    return connector;
  };
}
