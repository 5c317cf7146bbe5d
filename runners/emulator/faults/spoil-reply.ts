import { readFile } from 'node:fs/promises';
import type { Answer } from '../http/answer.js';
import type { Fault } from './fault.js';

/** The answer with its content spoiled; as it was for a fault that leaves the content alone. */
export async function spoilReply(fault: Fault, answer: Answer): Promise<Answer> {
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

async function firstPart({ body }: Answer): Promise<string | Buffer> {
  const whole = typeof body === 'string' || Buffer.isBuffer(body) ? body : await readFile(body.path);
  const length = Math.floor((whole.length * 2) / 3);
  return typeof whole === 'string' ? whole.slice(0, length) : whole.subarray(0, length);
}

function withFields(answer: Answer, fields: object): Answer {
  if (typeof answer.body !== 'string') return answer;
  return { ...answer, body: JSON.stringify({ ...(JSON.parse(answer.body) as object), ...fields }) };
}
