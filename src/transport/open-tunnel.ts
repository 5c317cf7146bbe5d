import http from 'node:http';
import https from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { Destination } from './proxy-rules.js';

/** From the connection to the proxy until it has connected. */
const tunnelMs = 20_000;

export interface TunnelOptions {
  /** The destination's name is looked up here first, and its address asked for: what it refuses is not gone to. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * A connection through a proxy, by CONNECT. Nothing of a request goes over it before it is handed over, so that whatever
 * fails here has sent nothing. Its errors name the proxy's host, and never its credentials.
 */
export async function openTunnel(
  proxy: URL,
  { host, port }: Destination,
  { lookup }: TunnelOptions = {},
): Promise<Socket> {
  const address = lookup === undefined ? host : await addressOf(host, lookup);
  const target = `${address.includes(':') ? `[${address}]` : address}:${port}`;
  const { username, password } = proxy;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const isTls = proxy.protocol === 'https:';
  const request = (isTls ? https : http).request({
    ...{ method: 'CONNECT', host: proxy.hostname.replace(/^\[|\]$/g, ''), path: target, agent: false },
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

function addressOf(host: string, lookup: LookupFunction): Promise<string> {
  return new Promise((resolve, reject) =>
    lookup(host, { all: false }, (error, address) => {
      if (error) reject(error);
      else resolve(typeof address === 'string' ? address : (address[0]?.address ?? host));
    }),
  );
}
