import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A server on a free port of 127.0.0.1 that is closed with all of its connections by `await using`. */
export interface LoopbackServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Connections accepted so far. */
  connections(): number;
  /** Resolves when one more connection has been closed. */
  connectionClosed(): Promise<void>;
}

export function serveHttp(handler: http.RequestListener): Promise<LoopbackServer> {
  return listen(http.createServer(handler), 'http');
}

export function serveHttps(
  handler: http.RequestListener,
  certificate: { key: string; cert: string },
): Promise<LoopbackServer> {
  return listen(https.createServer(certificate, handler), 'https');
}

/** Plain TCP, for what no HTTP server would do. */
export function serveTcp(onSocket: (socket: Socket) => void, scheme = 'http'): Promise<LoopbackServer> {
  return listen(
    net.createServer((socket) => {
      socket.on('error', () => undefined);
      onSocket(socket);
    }),
    scheme,
  );
}

/** A port of 127.0.0.1 that nothing listens at just now. */
export async function freePort(): Promise<number> {
  const { port, [Symbol.asyncDispose]: close } = await serveHttp(() => undefined);
  await close();
  return port;
}

/** The body of a request, or as much of it as came. */
export async function bodyOf(request: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** A port that nobody listens on. */
export async function closedPort(): Promise<number> {
  await using server = await serveTcp(() => undefined);
  return server.port;
}

async function listen(server: net.Server, scheme: string): Promise<LoopbackServer> {
  const sockets = new Set<Socket>();
  let count = 0;
  let closed: (() => void)[] = [];
  server.on('connection', (socket: Socket) => {
    count++;
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      closed.forEach((resolve) => resolve());
      closed = [];
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${scheme}://127.0.0.1:${port}`,
    connections: () => count,
    connectionClosed: () => new Promise((resolve) => closed.push(resolve)),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
