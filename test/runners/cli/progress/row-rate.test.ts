import { describe, expect, it } from 'vitest';
import { RowRate } from '../../../../runners/cli/progress/fold-progress.js';

describe('RowRate', () => {
  it('says nothing before it knows enough', () => {
    const rate = new RowRate(0);
    expect(rate.rowsPerMinute(5, 2_999)).toBeUndefined();
    expect(rate.rowsPerMinute(0, 60_000)).toBeUndefined();
    expect(rate.rowsPerMinute(5, 3_000)).toBe(100);
  });

  it('goes by the last two minutes', () => {
    const rate = new RowRate(0);
    for (let second = 1; second <= 600; second += 1)
      rate.note(second < 480 ? second * 10 : 4_800 + second - 480, second * 1000);
    expect(rate.rowsPerMinute(4_920, 600_000)).toBeCloseTo(60, 0);
  });

  it('falls while nothing ends', () => {
    const rate = new RowRate(0);
    rate.note(10, 10_000);
    expect(rate.rowsPerMinute(10, 20_000)).toBe(30);
    expect(rate.rowsPerMinute(10, 60_000)).toBe(10);
  });
});
