import { describe, expect, it } from 'vitest';
import { countOf, formatDuration, formatMoney } from '../../../../runners/cli/messages/plain-text.js';

describe('formatMoney', () => {
  it.each([
    [0, '$0.00'],
    [87_500, '$0.0875'],
    [26_250_000, '$26.25'],
    [1, '$0.000001'],
    [1_234_567_890_000, '$1,234,567.89'],
    [-130_000, '-$0.13'],
  ])('%i is %s', (amount, text) => {
    expect(formatMoney(amount)).toBe(text);
  });
});

describe('countOf', () => {
  it('tells one from many', () => {
    expect([
      countOf(1, 'row'),
      countOf(2, 'row'),
      countOf(1234, 'purchase'),
      countOf(0, 'reply', 'replies'),
    ]).toEqual(['1 row', '2 rows', '1,234 purchases', '0 replies']);
  });
});

describe('formatDuration', () => {
  it.each([
    [-5, '0 s'],
    [89_400, '89 s'],
    [90_000, '2 min'],
    [5_400_000, '1 h 30 min'],
    [7_500_000, '2 h 05 min'],
    [200_000_000, '2 d 7 h'],
  ])('%i ms are %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });
});
