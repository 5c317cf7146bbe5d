import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { privateAddressCode } from './private-address.js';
import { bareHost, type Destination } from './proxy-rules.js';

/** The limit for the whole way through the proxy, in ms. */
const tunnelMs = 20_000;

export interface TunnelOptions {
  /**
   * Looks up the destination's name first: an address that it refuses is not connected to. The proxy is asked for the
   * name all the same, and also for a name that is unknown here, as many proxies take only names.
   */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * A connection through a proxy, by CONNECT. No request is written before it resolves, so a failure here has sent nothing.
 * Its errors name the proxy's host, and never its credentials.
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
    ...{ method: 'CONNECT', host: bareHost(proxy.hostname), path: target, agent: false },
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

/** The error of a tunnel that could not be opened. */
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
