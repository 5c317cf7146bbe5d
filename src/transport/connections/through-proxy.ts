import type http from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import type { ConnectionWatch } from './connection-watch.js';
import { openTunnel, tunnelError } from './open-tunnel.js';
import type { ProxyRules } from './proxy-rules.js';

/** The limit for setting up TLS over a tunnel, in ms. */
const handshakeMs = 10_000;

export interface ThroughProxyOptions {
  readonly secure: boolean;
  readonly rules: ProxyRules;
  readonly connections: ConnectionWatch;
  readonly lookup: LookupFunction | undefined;
}

/** Makes an agent connect through a proxy where the rules name one. These connections are kept and shared like any other. */
export function throughProxy(
  agent: http.Agent,
  { secure, rules, connections, lookup }: ThroughProxyOptions,
): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const destination = {
      secure,
      host: options.host ?? 'localhost',
      port: Number(options.port ?? (secure ? 443 : 80)),
    };
    const proxy = rules(destination);
    if (proxy === undefined || callback === undefined) return connect(options, callback);
    openTunnel(proxy, destination, { lookup }).then(
      (tunnel) => {
        // A plain tunnel is not watched: an error on it may come after the request has left.
        const socket = secure ? connect(over(options, tunnel)) : tunnel;
        if (socket && secure) {
          const limit = setTimeout(
            () => socket.destroy(new Error('timed out (secure-connect)')),
            handshakeMs,
          );
          socket.once('secureConnect', () => clearTimeout(limit)).once('close', () => clearTimeout(limit));
        }
        callback(null, socket ?? tunnel);
      },
      (cause: unknown) => {
        const error = tunnelError(cause);
        connections.noteEarly(error);
        callback(error, undefined as never);
      },
    );
    return undefined;
  };
}

/** The option of https that names the connection to use; Node's types lack it. */
function over<T extends object>(options: T, tunnel: Socket): T & { socket: Socket } {
  return { ...options, socket: tunnel };
}
