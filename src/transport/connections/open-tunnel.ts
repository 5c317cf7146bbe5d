import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { privateAddressCode } from './private-address.js';
import { bareHost, type Destination, type ProxyRules } from './proxy-rules.js';
import type { ConnectionWatch } from './connection-reuse.js';

/** Timeout for opening a tunnel through a proxy, in ms. */
const tunnelMs = 20_000;

export interface TunnelOptions {
  /**
   * Looks up the destination's name first, and can refuse an address. The proxy still gets the name, even one that is unknown
   * here, because many proxies accept only names.
   */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * Opens a connection through a proxy, by CONNECT. No request is written before it resolves, so a failure here has sent nothing.
 * Errors name the proxy's host, never its credentials.
 */
export async function openTunnel(
  proxy: URL,
  { host, port }: Destination,
  { lookup }: TunnelOptions = {},
): Promise<Socket> {
  if (lookup !== undefined) await lookUp(host, lookup);
  const target = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  const { username, password } = proxy;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const isTls = proxy.protocol === 'https:';
  const request = (isTls ? https : http).request({
    method: 'CONNECT',
    host: bareHost(proxy.hostname),
    path: target,
    agent: false,
    port: proxy.port === '' ? (isTls ? 443 : 80) : proxy.port,
    headers: {
      host: target,
      ...((username !== '' || password !== '') && {
        'proxy-authorization': `Basic ${credentials.toString('base64')}`,
      }),
    },
  });
  return new Promise((resolve, reject) => {
    const fail = (problem: string, code: string) => {
      clearTimeout(limit);
      request.destroy();
      reject(Object.assign(new Error(`the proxy ${proxy.host} ${problem}`), { code, syscall: 'connect' }));
    };
    const limit = setTimeout(() => fail('does not connect in time', 'ETIMEDOUT'), tunnelMs);
    request.on('error', ({ code = 'ECONNRESET' }: NodeJS.ErrnoException) =>
      fail(`cannot be used (${code})`, code),
    );
    request.once('response', ({ statusCode }) =>
      fail(`answers CONNECT with HTTP ${statusCode}`, 'ERR_PROXY'),
    );
    request.once('connect', ({ statusCode }, socket: Socket, head: Buffer) => {
      if (statusCode !== 200 || head.length > 0) {
        socket.destroy();
        return fail(`answers CONNECT with HTTP ${statusCode}`, 'ERR_PROXY');
      }
      clearTimeout(limit);
      resolve(socket);
    });
    request.end();
  });
}

export function tunnelError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error('the proxy cannot be used');
}

function lookUp(host: string, lookup: LookupFunction): Promise<void> {
  return new Promise((resolve, reject) =>
    lookup(host, { all: true }, (error) => {
      if (error?.code === privateAddressCode) reject(error);
      else resolve();
    }),
  );
}

/** Timeout for setting up TLS over a tunnel, in ms. */
const handshakeMs = 10_000;

interface ThroughProxyOptions {
  readonly secure: boolean;
  readonly rules: ProxyRules;
  readonly connections: ConnectionWatch;
  readonly lookup: LookupFunction | undefined;
}

/** Makes an agent connect through a proxy if the rules name one. These connections are kept and shared like any other. */
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
        // A plain tunnel is not watched, because an error on it may come after the request has left.
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
