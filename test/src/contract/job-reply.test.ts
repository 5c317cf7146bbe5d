import { describe, expect, it } from 'vitest';
import { failedReplySchema, jobReplySchema, submissionReplySchema } from '../../../src/contract/job-reply.js';

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
    { id: 'j', status: 1 },
    null,
    [],
  ])('refuses %j', (reply) => {
    expect(jobReplySchema.safeParse(reply).success).toBe(false);
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
