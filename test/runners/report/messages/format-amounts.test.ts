import { formatMoney } from '../../../../src/contract/micro-dollars.js';
import { describe, expect, it } from 'vitest';
import {
  countOf,
  formatShare,
  formatSpan,
  formatSum,
} from '../../../../runners/report/messages/format-amounts.js';

describe('amounts', () => {
  it.each([
    [0, '$0.00'],
    [4_999, 'under $0.01'],
    [29_582_500, '$29.58'],
    [1_234_567_890_000, '$1,234,567.89'],
  ])('writes a sum of %d as %s', (amount, text) => expect(formatSum(amount)).toBe(text));

  it.each([
    [87_500, '$0.0875'],
    [130_000, '$0.13'],
    [1, '$0.000001'],
    [2_000_000, '$2.00'],
  ])('writes %d millionths of a dollar as %s', (amount, text) => expect(formatMoney(amount)).toBe(text));

  it.each([
    [0, '0 ms'],
    [340, '340 ms'],
    [8_200, '8.2 s'],
    [9_960, '10 s'],
    [89_000, '89 s'],
    [90_000, '2 min'],
    [7_500_000, '2 h 05 min'],
    [273_600_000, '3 d 4 h'],
  ])('writes %d ms as %s', (ms, text) => expect(formatSpan(ms)).toBe(text));

  it.each([
    [0, 10, '0%'],
    [10, 10, '100%'],
    [99_999, 100_000, 'over 99.9%'],
    [1, 100_000, 'under 0.1%'],
    [287, 300, '95.7%'],
    [0, 0, '0%'],
  ])('writes %d of %d as %s', (part, whole, text) => expect(formatShare(part, whole)).toBe(text));

  it('counts in words', () => {
    expect(countOf(1, 'row')).toBe('1 row');
    expect(countOf(12_000, 'row')).toBe('12,000 rows');
    expect(countOf(2, 'query', 'queries')).toBe('2 queries');
  });
});
