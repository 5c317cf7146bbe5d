import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { parseMilliseconds } from '../chance/parse-milliseconds.js';
import type { Clock } from '../clock.js';
import { type Answer, jsonAnswer } from '../http/answer.js';
import { sendAnswer } from '../http/send-answer.js';
import { sleep } from '../sleep.js';
import type { Fault } from './fault.js';
import { spoilReply } from './spoil-reply.js';

/** Lets a fault befall an answer: `undefined` where the request was never worked on. Resolves when nothing more is sent. */
export async function strike(
  fault: Fault,
  answer: Answer | undefined,
  outgoing: ServerResponse,
  clock: Clock,
): Promise<void> {
  if (fault.name === 'hang') return untilClosed(outgoing);
  if (fault.name === 'reset') return void outgoing.req.socket.resetAndDestroy();
  if (/^\d+$/.test(fault.name)) return sendAnswer(outgoing, codeAnswer(fault, clock));
  if (fault.name === 'redirect')
    return sendAnswer(outgoing, { status: 307, headers: { Location: fault.value ?? '/' }, body: '' });
  if (answer === undefined) return;
  if (fault.name === 'cut') return cut(outgoing, answer);
  if (fault.name === 'drip') return drip(outgoing, answer, millisecondsOf(fault), clock);
  if (fault.name === 'slow') await sleep(clock, millisecondsOf(fault));
  return sendAnswer(outgoing, await spoilReply(fault, answer));
}

function codeAnswer(fault: Fault, clock: Clock): Answer {
  const code = Number(fault.name);
  const body = JSON.stringify({
    error: saying[code] ?? 'the request failed',
    detail: 'a fault was asked for',
  });
  return jsonAnswer(
    body,
    code,
    fault.value === undefined ? {} : { 'Retry-After': retryAfter(fault.value, clock) },
  );
}

const saying: Record<number, string> = {
  400: 'bad request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not found',
  429: 'too many requests',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
};

/** `date+30` and `date-30` become an HTTP date so many seconds from now; all else is sent as it stands. */
function retryAfter(value: string, clock: Clock): string {
  const [, seconds] = /^date([+-]\d{1,9})$/.exec(value) ?? [];
  return seconds === undefined ? value : new Date(clock.now() + Number(seconds) * 1_000).toUTCString();
}

function millisecondsOf(fault: Fault): number {
  return parseMilliseconds(fault.value ?? '') ?? 0;
}

function untilClosed(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed) resolve();
    else outgoing.once('close', resolve);
  });
}

/** Announces the whole body, sends half of it, and hangs up. */
async function cut(outgoing: ServerResponse, answer: Answer): Promise<void> {
  const body = await bytesOf(answer);
  outgoing.writeHead(answer.status, { ...answer.headers, 'Content-Length': body.length });
  outgoing.write(body.subarray(0, body.length >> 1), () => outgoing.destroy());
  await untilClosed(outgoing);
}

/** One byte every so many ms. */
async function drip(outgoing: ServerResponse, answer: Answer, ms: number, clock: Clock): Promise<void> {
  const body = await bytesOf(answer);
  outgoing.writeHead(answer.status, { ...answer.headers, 'Content-Length': body.length });
  outgoing.flushHeaders();
  for (let at = 0; at < body.length && !outgoing.destroyed; at += 1) {
    await sleep(clock, ms);
    outgoing.write(body.subarray(at, at + 1));
  }
  outgoing.end();
}

async function bytesOf({ body }: Answer): Promise<Buffer> {
  if (typeof body === 'string') return Buffer.from(body);
  return Buffer.isBuffer(body) ? body : readFile(body.path);
}
