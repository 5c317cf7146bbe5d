import { describe, expect, it } from 'vitest';
import { worstEnd } from '../../../../runners/batch/stop/worst-end.js';

const end = (exitCode: number, reason = `reason ${exitCode}.`) => ({ exitCode, reason });

describe('worstEnd', () => {
  it.each([
    [[3, 70], 70],
    [[4, 74], 74],
    [[3, 4], 4],
    [[5, 3], 3],
    [[69, 5], 5],
    [[6, 69], 69],
    [[1, 6], 6],
    [[0, 1], 1],
    [[0, 75], 75],
    [[6, 75], 75],
    [[75, 69], 69],
  ])('of %j what matters most is told: %i', (codes, exitCode) => {
    expect(worstEnd(codes.map((code) => end(code)))).toEqual(end(exitCode));
    expect(worstEnd(codes.toReversed().map((code) => end(code)))).toEqual(end(exitCode));
  });

  it('of an interruption and a fault both are named, once', () => {
    const both = { exitCode: 130, reason: 'reason 130. reason 74.' };
    expect(worstEnd([end(130), end(3), end(74)])).toEqual(both);
    expect(worstEnd([both, end(74)])).toEqual(both);
  });

  it('an interruption alone is told as it is', () => {
    expect(worstEnd([end(0), end(143), end(130)])).toEqual(end(143));
    expect(worstEnd([])).toBeUndefined();
  });
});
