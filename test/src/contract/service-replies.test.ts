import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  failedReplySchema,
  healthSchema,
  isJobReply,
  jobReplySchema,
  purgeReplySchema,
  routeErrorSchema,
  streamReplySchema,
  submissionReplySchema,
} from '../../../src/contract/service-replies.js';
import { isTerminal, jobStates } from '../../../src/contract/outcome.js';

describe('isTerminal', () => {
  it('is true of the four ends and of no other state', () => {
    expect(jobStates.filter(isTerminal)).toEqual(['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT']);
  });

  it.each(['', 'completed', 'DONE', 'constructor'])('is false of %j', (status) => {
    expect(isTerminal(status)).toBe(false);
  });
});

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

describe('streamReplySchema', () => {
  it('takes the chunks out of their wrapping, whatever JSON they are', () => {
    const stream = [{ output: 'a' }, { output: null }, { output: { n: 1 }, metrics: {} }, 'bare', 0];
    expect(streamReplySchema.parse({ status: 'IN_PROGRESS', stream })).toEqual({
      status: 'IN_PROGRESS',
      stream: ['a', null, { n: 1 }, 'bare', 0],
    });
  });

  it('takes a missing list for an empty one', () => {
    for (const reply of [{ status: 'IN_QUEUE' }, { status: 'IN_QUEUE', stream: null }])
      expect(streamReplySchema.parse(reply).stream).toEqual([]);
  });

  it.each([null, {}, { stream: [] }, { status: '', stream: [] }, { status: 'FAILED', stream: 'text' }])(
    'refuses %j',
    (reply) => {
      expect(streamReplySchema.safeParse(reply).success).toBe(false);
    },
  );
});

describe('healthSchema', () => {
  it('keeps counts it does not know', () => {
    const health = { jobs: { inQueue: 3, completed: 0 }, workers: { idle: 1, throttled: 2 }, region: 'x' };
    expect(healthSchema.parse(health)).toEqual(health);
  });

  it.each([{}, { jobs: null, workers: 'none' }, { jobs: { inQueue: 'many' } }])(
    'makes do with %j',
    (health) => {
      expect(healthSchema.parse(health).jobs?.inQueue).toBeUndefined();
    },
  );
});

describe('purgeReplySchema', () => {
  it('reads what there is', () => {
    expect(purgeReplySchema.parse({ removed: 2, status: 'completed' })).toEqual({
      removed: 2,
      status: 'completed',
    });
    expect(purgeReplySchema.parse({ removed: 'many', status: 1 }).removed).toBeUndefined();
  });
});

describe('routeErrorSchema', () => {
  it.each([
    [
      { error: 'bad', detail: 'more' },
      { error: 'bad', detail: 'more' },
    ],
    [
      { error: 'bad', code: 7 },
      { error: 'bad', code: 7 },
    ],
    [
      { error: { type: 'x' }, detail: ['y'] },
      { error: '{"type":"x"}', detail: '["y"]' },
    ],
    [{ error: 'bad', detail: null }, { error: 'bad' }],
  ])('reads %j', (body, read) => {
    expect(routeErrorSchema.parse(body)).toEqual(read);
  });

  it.each([{}, { error: '' }, { error: null }, { message: 'x' }, [], 'x', null])('refuses %j', (body) => {
    expect(routeErrorSchema.safeParse(body).success).toBe(false);
  });
});
