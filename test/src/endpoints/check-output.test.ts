import { lastValueFrom, of, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { StandardSchema } from '../../../src/contract/standard-schema.js';
import { checkOutput, readInput } from '../../../src/endpoints/schema-checks.js';
import { completed, failed } from '../../../src/testing/in-virtual-time.js';

/** A schema of another kind than zod's: a function. */
const schemaOf = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as unknown as StandardSchema<unknown, string>;

const read = (schema: StandardSchema, input: unknown): Promise<unknown> => {
  return requested(readInput(schema, input, (checked) => JSON.stringify(checked)));
};

async function requested(request: string | (() => string) | Observable<string>): Promise<string> {
  if (typeof request === 'function') return request();
  return typeof request === 'string' ? request : lastValueFrom(request);
}

describe('readInput', () => {
  it('reads the input when it is called, and never again', async () => {
    const input = { n: 1 };
    const schemas = [z.object({ n: z.number() }), schemaOf((value) => Promise.resolve({ value })), undefined];
    const requests = schemas.map((schema) => readInput(schema, input, (checked) => JSON.stringify(checked)));
    await Promise.resolve();
    input.n = 2;
    for (const request of requests) expect(await requested(request)).toBe('{"n":1}');
  });

  it('gives what the schema gives, at once where the schema is synchronous', () => {
    const schema = z.object({ n: z.coerce.number(), mode: z.string().default('fast') });
    const request = readInput(schema, { n: '4' }, (checked) => checked);
    expect(request).toStrictEqual({ n: 4, mode: 'fast' });
  });

  it('errors with every issue and its place, also of an asynchronous schema', async () => {
    const schema = z.object({ list: z.array(z.number()), name: z.string() });
    await expect(read(schema, { list: [1, 'x'] })).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(/^list\.1: .*; name: /),
    });
    const later = schemaOf(() =>
      Promise.resolve({ issues: [{ message: 'is too late', path: [{ key: 'at' }] }] }),
    );
    await expect(read(later, {})).rejects.toThrow('at: is too late');
    const whole = schemaOf(() => ({ issues: [{ message: 'is nothing' }] }));
    await expect(read(whole, {})).rejects.toThrow(/^is nothing$/);
  });

  it('takes what a schema throws for an input that is not of it, with its cause', async () => {
    const cause = new Error('no network');
    const throwing = schemaOf(() => {
      throw cause;
    });
    for (const broken of [throwing, schemaOf(() => Promise.reject(cause))])
      await expect(read(broken, {})).rejects.toMatchObject({ code: 'invalid-input', cause });
  });
});

describe('checkOutput', () => {
  const check = (schema: StandardSchema<unknown, unknown>, output: unknown) =>
    lastValueFrom(checkOutput(schema, { ...completed(output, 0.2), delayTimeMs: 1, executionTimeMs: 2 }));

  it('gives the output as the schema gives it', async () => {
    expect(
      await check(
        z.string().transform((text) => text.length),
        'four',
      ),
    ).toMatchObject({ output: 4, costUsd: 0.2 });
  });

  it('keeps an output that is not of its schema, which is paid', async () => {
    expect(await check(z.object({ url: z.string() }), { url: 7 })).toStrictEqual({
      status: 'failed',
      code: 'output-mismatch',
      paid: 'yes',
      jobId: 'j',
      message: expect.stringMatching(/^the output of job j is not of its schema: url: /),
      output: { url: 7 },
      delayTimeMs: 1,
      executionTimeMs: 2,
    });
    const route = checkOutput(z.string(), { status: 'completed', jobId: '', output: 1, costUsd: null });
    expect(await lastValueFrom(route)).toHaveProperty('message', expect.stringMatching(/^the output is not/));
  });

  it('takes a schema that throws or rejects for a mismatch', async () => {
    const throwing = schemaOf(() => {
      throw new Error('broken schema');
    });
    expect(await check(throwing, 'x')).toMatchObject({ code: 'output-mismatch', output: 'x' });
    const rejecting = schemaOf(() => Promise.reject(new Error('no network')));
    expect(await check(rejecting, 'x')).toMatchObject({ message: expect.stringContaining('no network') });
    const odd = schemaOf(() => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- what a user's schema may do
      throw 'a text';
    });
    expect(await check(odd, 'x')).toMatchObject({ message: expect.stringContaining('a text') });
  });

  it('leaves failures alone', async () => {
    const failure = failed('job-failed', 'no');
    expect(await lastValueFrom(checkOutput(z.string(), failure))).toBe(failure);
    expect(await lastValueFrom(of(failure))).toBe(failure);
  });
});
