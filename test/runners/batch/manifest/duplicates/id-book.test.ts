import { describe, expect, it } from 'vitest';
import { IdBook } from '../../../../../runners/batch/manifest/duplicates/id-book.js';

describe('IdBook', () => {
  it('names the line that has an id', () => {
    const book = new IdBook();
    expect(book.claim('a', 2)).toBe(0);
    expect(book.claim('A', 3)).toBe(0);
    expect(book.claim('a', 4)).toBe(2);
    expect(book.claim('a', 5)).toBe(2);
  });

  it('numbers requests that come again', () => {
    const book = new IdBook();
    const hash = '0123456789abcdef01234567';
    const ids = [2, 3, 4].map((line) => book.derive(hash, line));
    expect(ids).toEqual([
      { id: '0123456789ab', repeat: 1 },
      { id: '0123456789ab-2', repeat: 2 },
      { id: '0123456789ab-3', repeat: 3 },
    ]);
    expect(book.claim('0123456789ab-3', 9)).toBe(4);
  });

  it('goes around ids that somebody gave', () => {
    const book = new IdBook();
    book.claim('0123456789ab-2', 1);
    expect(book.derive('0123456789ab…', 2).id).toBe('0123456789ab');
    expect(book.derive('0123456789ab…', 3).id).toBe('0123456789ab-3');
    expect(book.derive('0123456789ab…', 4).id).toBe('0123456789ab-4');
  });

  it('is quick with a request that comes again and again', () => {
    const book = new IdBook();
    let last = '';
    for (let line = 1; line <= 20_000; line++) last = book.derive('0123456789ab', line).id;
    expect(last).toBe('0123456789ab-20000');
  });
});
