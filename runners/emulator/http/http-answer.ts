import { createReadStream } from 'node:fs';
import type { ServerResponse, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { errorText } from '../../../src/contract/millrace-error.js';

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: string | Buffer | FileBody;
}

interface FileBody {
  path: string;
  bytes: number;
  /** The offset of the first byte. @defaultValue 0 */
  start?: number;
}

export function jsonAnswer(body: string, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'Content-Type': 'application/json', ...headers }, body };
}

/** The answer to an error: a `Refusal` has its own status, any other error is a 500. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof Refusal) {
    const body = JSON.stringify({ error: error.message, detail: error.detail });
    return jsonAnswer(body, error.status, error.headers);
  }
  const detail = errorText(error);
  return jsonAnswer(JSON.stringify({ error: 'internal server error', detail }), 500);
}

/** A request that is answered with an HTTP error: `{error, detail}`. (spec 7) */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    error: string,
    readonly detail: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(error);
  }
}

/** Writes the answer. Never rejects: a broken connection is the client's problem. */
export async function sendAnswer(outgoing: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  if (outgoing.destroyed) return;
  const length =
    typeof body === 'string' ? Buffer.byteLength(body) : Buffer.isBuffer(body) ? body.length : body.bytes;
  outgoing.writeHead(status, { ...headers, 'Content-Length': length });
  if (outgoing.req.method === 'HEAD') outgoing.end();
  else if (typeof body === 'string' || Buffer.isBuffer(body)) outgoing.end(body);
  else
    await pipeline(createReadStream(body.path, { start: body.start ?? 0 }), outgoing).catch(() =>
      outgoing.destroy(),
    );
}

/** The JSON text of a value; `undefined` for a function or `undefined`. @throws TypeError for a cycle or a BigInt */
export function jsonText(value: unknown): string | undefined {
  return JSON.stringify(value);
}

/** A parsed JSON body and its length on the wire. */
interface JsonBody {
  value: unknown;
  bytes: number;
}

/**
 * Reads a JSON body of at most `maxBytes`. A longer one is read to its end and dropped, so that the client gets its answer.
 * @throws Refusal 400 if it is too long, not declared as JSON, or not JSON
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
    throw new Refusal(400, 'invalid input format', 'the body is not JSON');
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
