import type { IncomingMessage } from 'node:http';
import { Refusal } from './http-answer.js';

/** A parsed JSON body and its length on the wire. */
export interface JsonBody {
  value: unknown;
  bytes: number;
}

/**
 * Reads a JSON body of at most `maxBytes`. A longer one is read to its end and dropped, so that the client gets its answer.
 * @throws Refusal 400 when it is too long, not declared as JSON, or no JSON
 */
export async function readBody(incoming: IncomingMessage, maxBytes: number): Promise<JsonBody> {
  const { parts, bytes } = await collect(incoming, maxBytes);
  if (bytes > maxBytes)
    throw new Refusal(400, 'exceeded max body size', `at most ${maxBytes} bytes, got ${bytes}`);
  if (!/^application\/(?:[\w.+-]+\+)?json\b/i.test(incoming.headers['content-type'] ?? ''))
    throw new Refusal(
      400,
      'invalid input format',
      'a POST with a body carries Content-Type: application/json',
    );
  try {
    return { value: JSON.parse(Buffer.concat(parts).toString()), bytes };
  } catch {
    throw new Refusal(400, 'invalid input format', 'the body is no JSON');
  }
}

async function collect(
  incoming: IncomingMessage,
  maxBytes: number,
): Promise<{ parts: Buffer[]; bytes: number }> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of incoming as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= maxBytes) parts.push(part);
    else parts = [];
  }
  return { parts, bytes };
}
