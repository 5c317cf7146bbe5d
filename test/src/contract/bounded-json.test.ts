import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxJsonDepth, parseJson } from '../../../src/contract/bounded-json.js';

const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

describe('parseJson', () => {
  it('gives what JSON.parse gives, and nothing for what is no JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 4 }), (value, cutAt) => {
        expect(parseJson(JSON.stringify(value), cutAt)).toEqual({ value: JSON.parse(JSON.stringify(value)) });
      }),
    );
    expect(parseJson('\ufeff[1]', 1)).toEqual({ value: [1] });
    for (const text of ['', '{', '<html>', '['.repeat(5_000), `{"a":${nested(5_000)}`])
      expect(parseJson(text, 1)).toBeUndefined();
  });

  it('keeps a value of 1,000 levels, and gives a deeper one as its raw text', () => {
    expect(parseJson(nested(maxJsonDepth), 1)?.value).toBeInstanceOf(Array);
    expect(parseJson(nested(maxJsonDepth + 1), 1)?.value).toBe(nested(maxJsonDepth + 1));
  });

  it.each([5_000, 10_000, 2_000_000])('reads what stands beside a value of %i levels', (levels) => {
    const text = `{"id":"a","output": ${nested(levels)} ,"status":"COMPLETED","other":[[1]]}`;
    expect(parseJson(text, 2)?.value).toEqual({
      id: 'a',
      status: 'COMPLETED',
      output: nested(levels),
      other: [[1]],
    });
  });

  it.each([
    ['9007199254740993', '9007199254740993'],
    ['-12345678901234567890', '-12345678901234567890'],
    ['1e400', '1e400'],
    ['9007199254740992', 9007199254740992],
    ['1000000000000000000000', 1e21],
    ['0.12345678901234567890', 0.12345678901234568],
    ['1e100', 1e100],
    ['1e-400', 0],
  ])(
    'gives a number that would become another one as its text, where it is asked to: %s',
    (number, value) => {
      const text = `{"id":"9007199254740993","output":[{"seed":${number},"x":"1e400"}, ${number}]}`;
      expect(parseJson(text, 2)).toEqual({ value: JSON.parse(text) });
      expect(parseJson(text, 2, true)?.value).toEqual({
        id: '9007199254740993',
        output: [{ seed: value, x: '1e400' }, value],
      });
      for (const broken of [`+${number}`, `${number}-`, `{${number}:1}`])
        expect(parseJson(`[${broken}]`, 1, true)).toBeUndefined();
    },
  );

  it('finds such a number behind millions of escapes', () => {
    const text = `{"x":"${'\\"'.repeat(15_000_000)}","seed":12345678901234567890}`;
    expect(parseJson(text, 2, true)?.value).toMatchObject({ seed: '12345678901234567890' });
  });

  it('counts no brackets within strings', () => {
    const tricky = `${'[{'.repeat(3_000)}\\" \\\\`;
    const value = { a: tricky, [tricky]: ['}', `\\"]`, tricky], deep: [[1]] };
    expect(parseJson(JSON.stringify(value), 2)?.value).toEqual(value);
  });

  it('reads wide values as they are', () => {
    const value = { output: Array.from({ length: 50_000 }, (_, n) => ({ n: [n] })) };
    expect(parseJson(JSON.stringify(value), 2)?.value).toEqual(value);
  });

  it('cuts out each value that is too deep, where it is told to', () => {
    const text = `{"stream":[{"output":${nested(2_000)}},{"output":"x"},{"output":{"a":${nested(3_000)}}}]}`;
    expect(parseJson(text, 4)?.value).toEqual({
      stream: [{ output: nested(2_000) }, { output: 'x' }, { output: `{"a":${nested(3_000)}}` }],
    });
  });
});
