import { describe, expect, it } from 'vitest';
import { Stops } from '../../../../runners/batch/stop/stops.js';

const cause = (exitCode: number, leaves: ('open' | 'accepted' | 'replied' | 'sent')[] = []) => ({
  exitCode,
  reason: `reason ${exitCode}`,
  leaves,
});

describe('Stops', () => {
  it('ends with what matters most', () => {
    const stops = new Stops();
    expect(stops.end).toBeUndefined();
    for (const code of [6, 3, 69]) stops.stop(cause(code));
    expect(stops.end).toEqual({ exitCode: 3, reason: 'reason 3' });
  });

  it('adds up what is left, and tells of it at once', () => {
    const stops = new Stops();
    const reported: string[] = [];
    stops.left('accepted').subscribe(() => reported.push('accepted'));
    expect(stops.isStopping).toBe(false);
    expect(stops.stop(cause(4, ['open']))).toBe(true);
    expect(stops.leaves('open')).toBe(true);
    expect(reported).toEqual([]);
    expect(stops.stop(cause(4, ['accepted']))).toBe(false);
    expect(reported).toEqual(['accepted']);
    expect(stops.leaves('sent')).toBe(false);
    stops.stop(cause(3));
    expect(['open', 'accepted'].map((status) => stops.leaves(status as 'open'))).toEqual([true, true]);
  });
});
