import { describe, expect, it } from 'vitest';
import { Stops } from '../../../../runners/batch/run/stops.js';

const cause = (exitCode: number, leaves: ('submits' | 'polls' | 'saves' | 'answers')[] = []) => ({
  exitCode,
  reason: `reason ${exitCode}`,
  leaves,
});

describe('Stops', () => {
  it.each([
    [[1, 130], 130],
    [[3, 70], 70],
    [[4, 74], 74],
    [[3, 4], 4],
    [[5, 3], 3],
    [[69, 5], 5],
    [[6, 69], 69],
    [[143, 70], 143],
  ])('of %j the cause that matters most is told: %i', (codes, exitCode) => {
    const stops = new Stops();
    for (const code of codes) stops.stop(cause(code));
    expect(stops.cause).toEqual(cause(exitCode));
  });

  it('adds up what is left, and tells of it at once', () => {
    const stops = new Stops();
    const told: string[] = [];
    stops.left('polls').subscribe(() => told.push('polls'));
    expect(stops.isStopping).toBe(false);
    expect(stops.stop(cause(4, ['submits']))).toBe(true);
    expect(stops.leaves('submits')).toBe(true);
    expect(told).toEqual([]);
    expect(stops.stop(cause(4, ['polls']))).toBe(false);
    expect(told).toEqual(['polls']);
    expect(stops.leaves('answers')).toBe(false);
  });
});
