import { describe, expect, it } from 'vitest';
import type { ChunkTask } from '../../../../src/operators/streaming/chunk-book.js';
import { readChunks } from '../../../../src/operators/streaming/read-chunks.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualContext,
  type Virtual,
} from '../../../support/virtual-time.js';

const chunks = (status: string, ...outputs: unknown[]) =>
  replied(200, { status, stream: outputs.map((output) => ({ output })) });
const status = (state: string, more: object = {}) => replied(200, { id: 'j', status: state, ...more });

/** Answers of /stream and of /status. */
const replies = {
  a: chunks('IN_PROGRESS', 'a'),
  b: chunks('IN_PROGRESS', 'b', 'c'),
  c: chunks('COMPLETED', 'b', 'c'),
  d: chunks('IN_PROGRESS', 'd'),
  n: chunks('IN_PROGRESS'),
  e: chunks('COMPLETED'),
  f: chunks('FAILED'),
  F: status('FAILED', { error: 'no paper' }),
  C: status('COMPLETED', { output: ['a', 'b', 'c', 'd'] }),
  O: status('COMPLETED', { output: 'all of it' }),
  R: status('IN_PROGRESS'),
  g: replied(404, { error: 'gone' }),
  k: replied(401, { error: 'key' }),
  l: replied(429, 'slow down'),
  h: replied(502, 'proxy'),
  j: replied(200, '{"status":"IN_PRO'),
};
const lost = new TransportError('reset', 'ECONNRESET', 'maybe', false, 'reset');
const never = new TransportError('connect', 'ECONNREFUSED', 'no', false, 'refused');

/** Chunks whose answers are marbles, one after the other; the last is given again and again. */
const reading = (
  { cold, scheduler }: Virtual,
  answers: string[],
  more: Partial<ChunkTask> & { error?: unknown } = {},
) => {
  const { error = lost, ...changes } = more;
  const streams = answers.map((marbles) => cold(marbles, replies, error));
  const sent: string[] = [];
  const task: ChunkTask = {
    key: 'k',
    jobId: 'j',
    request: requestTo('/v2/e/status/j', 'GET'),
    chunks: requestTo('/v2/e/stream/j', 'GET'),
    backoff: { initialMs: 10, factor: 2, maxMs: 10 },
    deadlineMs: 60_000,
    ...changes,
  };
  const context = virtualContext(scheduler, ({ url }) => {
    sent.push(url.split('/')[5]!);
    return streams[Math.min(sent.length, streams.length) - 1]!;
  });
  return { all: readChunks(task, context), sent, streams };
};
const jobError = (code: string) => expect.objectContaining({ name: 'JobError', code, jobId: 'j' });
const seen = { a: 'a', b: 'b', c: 'c', d: 'd' };

describe('readChunks', () => {
  it('gives each chunk once, asks on while there are some, and ends when all have come', () => {
    inVirtualTime((virtual) => {
      const { all, sent } = reading(virtual, ['--(a|)', '--(c|)', '----(e|)']);
      virtual.expectObservable(all).toBe('--a-(bc)|', seen);
      virtual.flush();
      expect(sent).toStrictEqual(['stream', 'stream', 'stream']);
    });
  });

  it('takes none, one and many for an answer; a job without chunks just ends', () => {
    inVirtualTime((virtual) => {
      virtual.expectObservable(reading(virtual, ['-(e|)']).all).toBe('-|');
      virtual.expectObservable(reading(virtual, ['-']).all, '^----!').toBe('-');
    });
  });

  it('waits ever longer while there is nothing, and not at all when there was something', () => {
    inVirtualTime((virtual) => {
      const { all } = reading(virtual, ['-(n|)', '-(n|)', '-(a|)', '-(n|)', '-(e|)']);
      // 1 + 250 + 1 + 375 + 1, then at once 1 + 250 + 1
      virtual.expectObservable(all).toBe('628ms a 251ms |', seen);
    });
  });

  it('fails as the job did, after the last chunk, and says so again to who comes later', () => {
    inVirtualTime((virtual) => {
      const { all, sent } = reading(virtual, ['-(a|)', '-(f|)', '-(F|)']);
      const failed = expect.objectContaining({
        code: 'job-failed',
        paid: 'no',
        message: expect.stringContaining('no paper'),
      });
      virtual.expectObservable(all).toBe('-a-#', seen, failed);
      virtual.expectObservable(all, '------^').toBe('------(a#)', seen, failed);
      virtual.flush();
      expect(sent).toStrictEqual(['stream', 'stream', 'status']);
    });
  });

  it('gives late and returning subscribers the earlier chunks first, and asks once for all', () => {
    inVirtualTime((virtual) => {
      const { all, sent } = reading(virtual, ['-(a|)', '----(b|)', '----(e|)']);
      virtual.expectObservable(all).toBe('-a---(bc)|', seen);
      virtual.expectObservable(all, '---^').toBe('---a-(bc)|', seen);
      virtual.flush();
      expect(sent).toHaveLength(3);
    });
  });

  it('keeps what a request on the wire brings after everybody has left', () => {
    inVirtualTime((virtual) => {
      const { all, sent, streams } = reading(virtual, ['-----(a|)', '-(e|)']);
      virtual.expectObservable(all, '^-!').toBe('--');
      virtual.expectObservable(all, '--------^').toBe('--------a|', seen);
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe('^----!');
      virtual.flush();
      expect(sent).toHaveLength(2);
    });
  });

  it('joins the request that is on the wire still', () => {
    inVirtualTime((virtual) => {
      const { all, sent } = reading(virtual, ['-----(a|)', '-(e|)']);
      virtual.expectObservable(all, '^-!').toBe('--');
      virtual.expectObservable(all, '---^').toBe('-----a|', seen);
      virtual.flush();
      expect(sent).toHaveLength(2);
    });
  });

  it('loses nothing to a request that never left or was refused', () => {
    inVirtualTime((virtual) => {
      const { all, sent } = reading(virtual, ['-#', '-(l|)', '-(c|)', '----(e|)'], { error: never });
      virtual.expectObservable(all).toBe('23ms (bc)|', seen);
      virtual.flush();
      expect(sent).not.toContain('status');
    });
  });

  it.each([
    ['a reset', ['-(a|)', '-#', '-(d|)', '-(e|)', '-(C|)']],
    ['a proxy', ['-(a|)', '-(h|)', '-(d|)', '-(e|)', '-(C|)']],
    ['a cut reply', ['-(a|)', '-(j|)', '-(d|)', '-(e|)', '-(C|)']],
  ])('takes what was lost to %s out of the output, in order', (_, answers) => {
    inVirtualTime((virtual) => {
      const { all } = reading(virtual, answers);
      virtual.expectObservable(all).toBe('-a 13ms (bcd|)', seen);
    });
  });

  it('says that chunks may be missing when the output does not hold them', () => {
    inVirtualTime((virtual) => {
      const { all } = reading(virtual, ['-(a|)', '-#', '-(d|)', '-(e|)', '-(O|)']);
      const gap = expect.objectContaining({ name: 'ChunkGapError', code: 'chunk-gap', received: 1 });
      virtual.expectObservable(all).toBe('-a 13ms (d#)', seen, gap);
      virtual.expectObservable(all, '100ms ^').toBe('100ms (ad#)', seen, gap);
    });
  });

  it('ends as expired when the job is gone, unless it had completed', () => {
    inVirtualTime((virtual) => {
      virtual
        .expectObservable(reading(virtual, ['-(a|)', '-(g|)']).all)
        .toBe('-a#', seen, jobError('expired'));
      virtual.expectObservable(reading(virtual, ['-(c|)', '----(g|)']).all).toBe('-(bc)|', seen);
    });
  });

  it('asks again for who subscribes again after a refused key', () => {
    inVirtualTime((virtual) => {
      const { all } = reading(virtual, ['-(k|)', '-(a|)', '-(e|)']);
      virtual.expectObservable(all).toBe('-#', seen, jobError('unauthorized'));
      virtual.expectObservable(all, '---^').toBe('----a|', seen);
    });
  });

  it('goes on with a job that runs again', () => {
    inVirtualTime((virtual) => {
      const { all } = reading(virtual, ['-(f|)', '-(R|)', '-(a|)', '-(e|)']);
      virtual.expectObservable(all).toBe('253ms a|', seen);
    });
  });

  it('ends at its deadline', () => {
    inVirtualTime((virtual) => {
      const { all } = reading(virtual, ['-(a|)', '-'], { deadlineMs: 5 });
      virtual.expectObservable(all).toBe('-a---#', seen, jobError('deadline'));
    });
  });
});
