import type { Socket } from 'node:net';
import tls from 'node:tls';
import { serveTcp, type LoopbackServer } from './loopback-server.js';

/** A request as it came over the connection. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** From 0, in the order of arrival over all connections. */
  readonly index: number;
}

/** An HTTP/1.1 server on bare sockets, for replies that no HTTP server would send: `answer` writes every byte. */
export function serveRaw(
  answer: (request: RawRequest, socket: Socket) => void,
  certificate?: { key: string; cert: string },
): Promise<LoopbackServer> {
  let index = 0;
  const serve = (socket: Socket): void => {
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      for (;;) {
        const headEnd = text.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        const bodyEnd =
          headEnd + 4 + Number(/content-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1] ?? 0);
        if (text.length < bodyEnd) return;
        const [method = '', path = ''] = text.split(' ', 2);
        const request = { method, path, body: text.slice(headEnd + 4, bodyEnd), index: index++ };
        text = text.slice(bodyEnd);
        answer(request, socket);
      }
    });
  };
  if (certificate === undefined) return serveTcp(serve);
  return serveTcp((socket) => {
    const secure = new tls.TLSSocket(socket, { isServer: true, ...certificate });
    secure.on('error', () => undefined);
    serve(secure);
  }, 'https');
}

/** A whole reply of 200 with a JSON body. */
export function rawReply(body: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${headers}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** The same in chunks. */
export function rawChunks(body: string): string {
  const size = Buffer.byteLength(body).toString(16);
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`;
}
