import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  failedReplySchema,
  isJobReply,
  jobReplySchema,
  submissionReplySchema,
} from '../../../src/contract/job-reply.js';

describe('jobReplySchema', () => {
  it.each([{ a: 1 }, [1], 'text', 0, false, null])('takes %j as an output', (output) => {
    expect(jobReplySchema.parse({ id: 'j', status: 'COMPLETED', output }).output).toEqual(output);
  });

  it('keeps unknown fields and states', () => {
    const reply = { id: 'sync-<x>-e2', status: 'PAUSED', workerId: 'w1', error: { type: 'x' } };
    expect(jobReplySchema.parse(reply)).toEqual(reply);
  });

  it.each(['soon', -5, null, Number.NaN])('takes a time of %s as not reported', (delayTime) => {
    expect(jobReplySchema.parse({ id: 'j', status: 'COMPLETED', delayTime, executionTime: 12 })).toEqual({
      id: 'j',
      status: 'COMPLETED',
      executionTime: 12,
    });
  });

  it.each([
    {},
    { id: 'j' },
    { status: 'COMPLETED' },
    { id: '', status: 'COMPLETED' },
    { id: 7, status: 'COMPLETED' },
    { id: '.', status: 'COMPLETED' },
    { id: '..', status: 'COMPLETED' },
    { id: 'half a pair \ud800', status: 'COMPLETED' },
    { id: 'x'.repeat(1_001), status: 'COMPLETED' },
    { id: 'j', status: 1 },
    null,
    [],
  ])('refuses %j', (reply) => {
    expect(jobReplySchema.safeParse(reply).success).toBe(false);
  });
});

describe('isJobReply', () => {
  const text = fc.constantFrom('j', '', '..', '\udc00', 'COMPLETED', 1, null);
  const time = fc.oneof(fc.double(), fc.constantFrom(undefined, null, 'soon', 0, -0, 1_000));
  const fields = { id: text, status: text, delayTime: time, executionTime: time, output: fc.jsonValue() };
  const replies = fc.record({ ...fields, workerId: fc.jsonValue() }, { requiredKeys: [] });

  test.prop([fc.oneof(replies, fc.jsonValue())])(
    'says yes only where the schema changes nothing',
    (value) => {
      const parsed = jobReplySchema.safeParse(value);
      if (isJobReply(value)) {
        expect(parsed.data).toEqual(value);
        expect(submissionReplySchema.parse(value)).toEqual(value);
      } else if (parsed.success) expect(parsed.data).not.toStrictEqual(value);
    },
  );

  it('says yes to what a service usually answers', () => {
    expect(isJobReply({ id: 'j', status: 'IN_QUEUE' })).toBe(true);
    const done = { id: 'j', status: 'COMPLETED', delayTime: 0, executionTime: 12.5, output: null };
    expect(isJobReply(done)).toBe(true);
  });
});

describe('submissionReplySchema', () => {
  it.each([{ id: 'j' }, { id: 'j', status: null }, { id: 'j', status: '' }])(
    'takes %j as an accepted job',
    (reply) => {
      expect(submissionReplySchema.parse(reply)).toEqual({ id: 'j', status: 'IN_QUEUE' });
    },
  );
});

describe('failedReplySchema', () => {
  it('may lack the id, but never says anything else than FAILED', () => {
    expect(failedReplySchema.parse({ status: 'FAILED', error: 'x' })).toEqual({
      status: 'FAILED',
      error: 'x',
    });
    expect(failedReplySchema.safeParse({ id: 'j', status: 'COMPLETED' }).success).toBe(false);
  });
});
