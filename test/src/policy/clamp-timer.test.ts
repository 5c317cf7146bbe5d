import { describe, expect, it } from 'vitest';
import { clampTimer } from '../../../src/policy/client-clock.js';

describe('clampTimer', () => {
  it.each([
    [0, 0],
    [1.5, 1.5],
    [-1, 0],
    [2 ** 31 - 1, 2_147_483_647],
    [2 ** 31, 2_147_483_647],
    [Infinity, 2_147_483_647],
    [-Infinity, 0],
    [Number.NaN, 0],
  ])('%d → %d [fault 21]', (ms, clamped) => {
    expect(clampTimer(ms)).toBe(clamped);
  });
});
