import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { parseMilliseconds } from '../settings/parse-latency.js';
import { type Clock, sleep } from '../clock.js';
import { type Answer, jsonAnswer, sendAnswer } from '../http/http-answer.js';
import type { Fault } from './fault.js';

/** Applies a fault to an answer (`undefined`: the request was not handled). Resolves when everything is sent. */
export async function applyFault(
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
    error: reasonPhrases[code] ?? 'the request failed',
    detail: 'a fault was asked for',
  });
  return jsonAnswer(
    body,
    code,
    fault.value === undefined ? {} : { 'Retry-After': retryAfterHeader(fault.value, clock) },
  );
}

const reasonPhrases: Record<number, string> = {
  400: 'bad request',
  401: 'unauthorized',
  402: 'payment required',
  403: 'forbidden',
  404: 'not found',
  429: 'too many requests',
  500: 'internal server error',
  502: 'bad gateway',
  503: 'service unavailable',
  504: 'gateway timeout',
};

/** `date+30` and `date-30` become an HTTP date 30 seconds from now or ago; any other value is sent unchanged. */
function retryAfterHeader(value: string, clock: Clock): string {
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

/** One byte every `ms`. */
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
  return Buffer.isBuffer(body) ? body : (await readFile(body.path)).subarray(body.start ?? 0);
}

/** The answer with its content changed by the fault; unchanged for a fault of another kind. */
async function spoilReply(fault: Fault, answer: Answer): Promise<Answer> {
  switch (fault.name) {
    case 'malformed':
      return { ...answer, body: await firstPart(answer) };
    case 'html':
      return { status: 200, headers: { 'Content-Type': 'text/html' }, body: page };
    case 'empty':
      return { ...answer, body: '' };
    case 'null':
      return { ...answer, body: 'null' };
    case 'wrong-id':
      return withFields(answer, { id: 'another-job-u1' });
    case 'unknown-status':
      return withFields(answer, { status: fault.value ?? 'MYSTERY', output: undefined });
    case 'backwards':
      return withFields(answer, { status: 'IN_QUEUE', output: undefined });
    default:
      return answer;
  }
}

const page = '<!doctype html><title>Maintenance</title><h1>We will be back soon</h1>';

async function firstPart(answer: Answer): Promise<Buffer> {
  const whole = await bytesOf(answer);
  return whole.subarray(0, Math.floor((whole.length * 2) / 3));
}

function withFields(answer: Answer, fields: object): Answer {
  if (typeof answer.body !== 'string') return answer;
  return { ...answer, body: JSON.stringify({ ...(JSON.parse(answer.body) as object), ...fields }) };
}
