import { describe, expect, it } from 'vitest';
import { IdHash } from '../../../../../runners/batch/manifest/duplicates/id-hash.js';

const hash = new IdHash();

function textOf(id: string): string {
  const { high, low } = hash.ofText(id);
  return `${high.toString(16)} ${low.toString(16)}`;
}

describe('IdHash', () => {
  it('is the same for text and for its ASCII bytes', () => {
    const bytes = Buffer.from('xx row-000017 yy');
    const found = new IdHash();
    expect(found.ofPlain(bytes, 3, 13)).toBe(true);
    const { high, low } = found;
    expect(`${high.toString(16)} ${low.toString(16)}`).toBe(textOf('row-000017'));
  });

  it('takes no bytes that are not the code units of a text', () => {
    for (const text of ['\\', 'a\\u0041', 'é', 'row-\u{1f600}']) {
      const bytes = Buffer.from(text);
      expect([text, new IdHash().ofPlain(bytes, 0, bytes.length)]).toEqual([text, false]);
    }
  });

  it('tells ids apart that differ in case, in order, in length, in a lone surrogate', () => {
    const ids = [
      '',
      '\0',
      '\0\0',
      'a',
      'A',
      'ab',
      'ba',
      'é',
      'e\u0301',
      '\ud800',
      '\ud801',
      '\ufffd',
      '1',
      '01',
      '10',
    ];
    expect(new Set(ids.map(textOf)).size).toBe(ids.length);
  });

  it('has no collision among 100,000 ids of the usual kinds, and spreads them evenly', () => {
    const seen = new Set<string>();
    const buckets = new Uint32Array(1024);
    for (let i = 0; i < 25_000; i++) {
      for (const id of [
        `${i}`,
        `row-${i}`,
        `img/${i % 317}/${i}.png`,
        (i * 2_654_435_761).toString(16).padStart(12, '0'),
      ]) {
        seen.add(textOf(id));
        buckets[hash.low & 1023]!++;
      }
    }
    expect(seen.size).toBe(100_000);
    expect(Math.max(...buckets) / (100_000 / 1024)).toBeLessThan(1.5);
    expect(Math.min(...buckets) / (100_000 / 1024)).toBeGreaterThan(0.55);
  });

  it('has halves that are no function of each other: among 100,000 ids each collides as chance would have it', () => {
    const halves = { high: new Set<number>(), low: new Set<number>() };
    for (let i = 0; i < 100_000; i++) {
      hash.ofText(`row-${i}`);
      halves.high.add(hash.high);
      halves.low.add(hash.low);
    }
    // 100,000² / 2 / 2³² is about one pair.
    for (const half of [halves.high, halves.low]) expect(100_000 - half.size).toBeLessThan(12);
  });
});
