import { describe, expect, it } from 'vitest';
import { streamReplySchema } from '../../../src/contract/stream-reply.js';

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
