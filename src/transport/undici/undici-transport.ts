import { env as processEnv } from 'node:process';
import { Observable } from 'rxjs';
import { Client } from 'undici';
import { InvalidOptionError } from '../../contract/millrace-error.js';
import { proxyRules } from '../connections/proxy-rules.js';
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
 *
 * @throws InvalidOptionError for a proxy in the environment that is none, and on Bun, whose own `undici` has no connections
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): Transport {
  if (typeof Client.prototype.destroy !== 'function') throw new InvalidOptionError('transport', noUndici);
  const connectorFor = createConnectors(options);
  return (request) =>
    new Observable((subscriber) => {
      const exchange = new Exchange(request, connectorFor(request), subscriber);
      exchange.send();
      return () => exchange.abandon();
    });
}

const noUndici =
  'the `undici` of this runtime is not that of Node.js, and cannot send requests: use the default transport, or that of millrace/fetch';

/** Requests with the same limits for connecting share connections. */
function createConnectors(options: UndiciTransportOptions): (request: WireRequest) => Connector {
  const connectors = new Map<string, Connector>();
  const { ca, lookup, env = processEnv, now = () => performance.now() } = options;
  // Before the first request: an error in it would leave a purchase in doubt.
  const rules = proxyRules(env);
  return ({ timeouts }) => {
    const { lookupMs, connectMs, secureConnectMs } = timeouts;
    const name = `${lookupMs} ${connectMs} ${secureConnectMs}`;
    const known = connectors.get(name);
    if (known) return known;
    const { connect, neverConnected } = createConnect({ ca, lookup, rules }, timeouts);
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
