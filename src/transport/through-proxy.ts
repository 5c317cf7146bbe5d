import type http from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import type { ConnectionWatch } from './connection-watch.js';
import { openTunnel } from './open-tunnel.js';
import type { ProxyRules } from './proxy-rules.js';

/** From the tunnel until TLS stands. */
const handshakeMs = 10_000;

export interface ThroughProxyOptions {
  readonly secure: boolean;
  readonly rules: ProxyRules;
  readonly connections: ConnectionWatch;
  readonly lookup: LookupFunction | undefined;
}

/** Has an agent connect through a proxy wherever the rules say so. Its connections are kept and shared like any other. */
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
        // What goes wrong on a plain tunnel may have happened after the request left: it is not watched.
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
        const error = cause instanceof Error ? cause : new Error('the proxy cannot be used');
        connections.noteEarly(error);
        callback(error, undefined as never);
      },
    );
    return undefined;
  };
}

/** What https connects over, where it is given: Node's types do not know of it. */
function over<T extends object>(options: T, tunnel: Socket): T & { socket: Socket } {
  return { ...options, socket: tunnel };
}
