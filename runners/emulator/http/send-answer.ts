import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './answer.js';

/** Writes the answer. What becomes of the connection then is the client's affair: never rejects. */
export async function sendAnswer(outgoing: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  if (outgoing.destroyed) return;
  const length =
    typeof body === 'string' ? Buffer.byteLength(body) : Buffer.isBuffer(body) ? body.length : body.bytes;
  outgoing.writeHead(status, { ...headers, 'Content-Length': length });
  if (outgoing.req.method === 'HEAD') outgoing.end();
  else if (typeof body === 'string' || Buffer.isBuffer(body)) outgoing.end(body);
  else await pipeline(createReadStream(body.path), outgoing).catch(() => outgoing.destroy());
}
