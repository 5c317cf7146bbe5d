import { describe, expect, it } from 'vitest';
import type { Judged } from '../../../../src/operators/requests/exchange.js';
import { ChunkBook } from '../../../../src/operators/streaming/chunk-book.js';
import { requestTo } from '../../../support/virtual-time.js';

const bookAfter = (...reported: (unknown[] | 'lost')[]) => {
  const book = new ChunkBook(
    {
      key: 'k',
      jobId: 'j',
      backoff: { initialMs: 8, factor: 2, maxMs: 100 },
      deadlineMs: 1,
      request: requestTo('/v2/e/status/j', 'GET'),
      chunks: requestTo('/v2/e/stream/j', 'GET'),
    },
    () => 1,
  );
  for (const stream of reported) book.enter(stream === 'lost' ? lost : answer(stream));
  return book;
};
const answer = (stream: unknown[]): Judged => ({
  verdict: { verdict: 'answer' },
  reading: { status: 200, body: 'value', value: {}, chunks: { status: 'COMPLETED', stream } },
});
const lost = { verdict: { verdict: 'again', why: 'transient', usedUp: 'deadline' } } as Judged;
const closed = (book: ChunkBook, output: unknown) => {
  book.close({ id: 'j', status: 'COMPLETED', output });
  return { kept: book.kept, gap: book.gap?.received };
};

describe('ChunkBook', () => {
  it('is whole when the job completed and no reply was lost', () => {
    expect(bookAfter([1], []).isWhole).toBe(true);
    expect(bookAfter([1], 'lost', []).isWhole).toBe(false);
  });

  it('finds what several lost replies held', () => {
    const book = bookAfter([1], 'lost', [3], 'lost', [5], []);
    expect(book.kept).toStrictEqual([1]);
    expect(closed(book, [1, 2, 3, 4, 5, 6])).toStrictEqual({ kept: [1, 2, 3, 4, 5, 6], gap: undefined });
  });

  it.each([
    ['text', 'one two'],
    ['another beginning', [9, 2, 3]],
    ['another order', [1, 3, 2]],
    ['less than came', [1, 2]],
  ])('does not trust an output that is %s', (_, output) => {
    expect(closed(bookAfter([1], 'lost', [2, 3], []), output)).toStrictEqual({ kept: [1, 2, 3], gap: 1 });
  });

  it('waits by backoff after faults, ever longer after silence, and not after chunks', () => {
    expect(bookAfter('lost').waitMs).toBe(8);
    expect(bookAfter('lost', 'lost').waitMs).toBe(16);
    expect(bookAfter([]).waitMs).toBe(250);
    expect(bookAfter(...Array.from({ length: 9 }, () => [])).waitMs).toBe(2_000);
    expect(bookAfter([], [1]).waitMs).toBe(0);
  });

  it('does not hammer a service that hands out chunks for ever after the end', () => {
    const waits = (answers: number) => bookAfter(...Array.from({ length: answers }, () => [1])).waitMs;
    expect([1, 10, 11, 30].map(waits)).toStrictEqual([0, 0, 250, 2_000]);
  });
});
