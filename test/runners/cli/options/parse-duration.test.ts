import { describe, expect, it } from 'vitest';
import { parseDuration } from '../../../../runners/cli/options/parse-value.js';

describe('parseDuration', () => {
  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['1.5s', 1_500],
    ['10m', 600_000],
    ['1h30m', 5_400_000],
    ['1d2h3m4s5ms', 93_784_005],
  ])('reads %s as %i ms', (text, ms) => {
    expect(parseDuration(text)).toEqual({ ms });
  });

  it('refuses a number without a unit and shows how to write it', () => {
    expect(parseDuration('90')).toEqual({
      problem: '"90" has no unit: write 90s for seconds, 90m for minutes or 90h for hours',
    });
  });

  it.each(['', 's', '10 m', '-5s', '5s10m', '1h1h', 'Infinity', '1e3s', '10min'])('refuses "%s"', (text) => {
    expect(parseDuration(text)).toEqual({
      problem: `"${text}" is not a duration: write it as 90s, 10m or 1h30m`,
    });
  });
});
