import { expect, it } from 'vitest';
import { parseMilliseconds } from '../../../../runners/emulator/settings/parse-latency.js';

it.each([
  ['0', 0],
  ['250', 250],
  ['250ms', 250],
  ['1.5s', 1_500],
  ['2m', 120_000],
  ['1h', 3_600_000],
])('reads %s', (text, ms) => {
  expect(parseMilliseconds(text)).toBe(ms);
});

it.each(['', '-1', '1d', 'ms', '1,5s', '1e3', 'Infinity'])('refuses %j', (text) => {
  expect(parseMilliseconds(text)).toBeUndefined();
});
