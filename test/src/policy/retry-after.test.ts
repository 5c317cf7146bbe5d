import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../../src/policy/retry-after.js';

const now = Date.UTC(2026, 10, 21, 12, 0, 0);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['1', 1_000],
    [' 120 ', 120_000],
    ['1.5', 1_500],
    ['600', 600_000],
    ['601', 600_000],
    ['31536000', 600_000],
    ['99999999999999999999999', 600_000],
  ])('%j seconds → %d ms [fault 4]', (header, waitMs) => {
    expect(retryAfterMs(header, now)).toBe(waitMs);
  });

  it.each([
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Saturday, 21-Nov-26 12:00:30 GMT', 30_000],
    ['Sat Nov 21 12:00:30 2026', 30_000],
    ['Thu Nov  5 12:00:30 2026', 0],
    ['Sat, 21 Nov 2026 11:59:00 GMT', 0],
    ['Sun, 21 Nov 2027 12:00:00 GMT', 600_000],
  ])('the date %j → %d ms [fault 4]', (header, waitMs) => {
    expect(retryAfterMs(header, now)).toBe(waitMs);
  });

  it.each([
    undefined,
    '',
    '  ',
    '-1',
    '-0.5',
    'soon',
    '1e3',
    '0x10',
    'NaN',
    'Infinity',
    '1, 2',
    '2026-11-21',
    'Sat, 99 Nov 2026 12:00:30 GMT',
    'foo 1',
  ])('cannot read %j [fault 4]', (header) => {
    expect(retryAfterMs(header, now)).toBeUndefined();
  });
});
