import { describe, expect, it } from 'vitest';
import { measureRate } from '../../../../runners/cli/progress/fold-progress.js';

describe('measureRate', () => {
  it('says nothing before it knows enough', () => {
    const pace = measureRate(0);
    expect(pace.rowsPerMinute(5, 2_999)).toBeUndefined();
    expect(pace.rowsPerMinute(0, 60_000)).toBeUndefined();
    expect(pace.rowsPerMinute(5, 3_000)).toBe(100);
  });

  it('goes by the last two minutes', () => {
    const pace = measureRate(0);
    for (let second = 1; second <= 600; second += 1)
      pace.note(second < 480 ? second * 10 : 4_800 + second - 480, second * 1000);
    expect(pace.rowsPerMinute(4_920, 600_000)).toBeCloseTo(60, 0);
  });

  it('falls while nothing ends', () => {
    const pace = measureRate(0);
    pace.note(10, 10_000);
    expect(pace.rowsPerMinute(10, 20_000)).toBe(30);
    expect(pace.rowsPerMinute(10, 60_000)).toBe(10);
  });
});
