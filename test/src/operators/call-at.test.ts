import { describe, expect, it } from 'vitest';
import { callAt } from '../../../src/operators/deadline.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('callAt', () => {
  const day = 24 * 3_600_000;

  it('does its work once, at its time, also when that is further than one timer can hold', () => {
    const times: number[] = [];
    inVirtualTime(({ scheduler }) => {
      for (const at of [-5, 0, 7, 60 * day]) callAt(at, scheduler, () => times.push(scheduler.now()));
    });
    expect(times).toStrictEqual([0, 0, 7, 60 * day]);
  });

  it('does nothing when it is called off, also after its first timer has rung', () => {
    const times: number[] = [];
    inVirtualTime(({ scheduler }) => {
      const early = callAt(7, scheduler, () => times.push(scheduler.now()));
      scheduler.schedule(() => early.unsubscribe(), 3);
      const late = callAt(60 * day, scheduler, () => times.push(scheduler.now()));
      scheduler.schedule(() => late.unsubscribe(), 50 * day);
    });
    expect(times).toStrictEqual([]);
  });
});
