import { lastValueFrom, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { StandardSchema } from '../../../src/contract/standard-schema.js';
import { checkInput, checkOutput } from '../../../src/endpoints/schema-checks.js';
import { completed, failed } from '../../support/job-events.js';

/** A schema of another kind than zod's: a function. */
const schemaOf = (validate: (value: unknown) => unknown) =>
  ({ '~standard': { version: 1, vendor: 'test', validate } }) as unknown as StandardSchema<unknown, string>;

describe('checkInput', () => {
  it('gives what the schema gives, at once where the schema is synchronous', () => {
    const seen: unknown[] = [];
    const schema = z.object({ n: z.coerce.number(), mode: z.string().default('fast') });
    checkInput(schema, { n: '4' }).subscribe((value) => seen.push(value));
    expect(seen).toStrictEqual([{ n: 4, mode: 'fast' }]);
  });

  it('errors with every issue and its place, also of an asynchronous schema', async () => {
    const schema = z.object({ list: z.array(z.number()), name: z.string() });
    const wrong = lastValueFrom(checkInput(schema, { list: [1, 'x'] }));
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(/^list\.1: .*; name: /),
    });
    const later = schemaOf(() =>
      Promise.resolve({ issues: [{ message: 'is too late', path: [{ key: 'at' }] }] }),
    );
    await expect(lastValueFrom(checkInput(later, {}))).rejects.toThrow('at: is too late');
    const whole = schemaOf(() => ({ issues: [{ message: 'is nothing' }] }));
    await expect(lastValueFrom(checkInput(whole, {}))).rejects.toThrow(/^is nothing$/);
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
