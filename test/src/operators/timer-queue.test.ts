import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { fc, test } from '@fast-check/vitest';
import { asyncScheduler, VirtualTimeScheduler } from 'rxjs';
import { TimerQueue } from '../../../src/operators/timers/timer-queue.js';
import { inVirtualTime } from '../../support/virtual-time.js';

const time = fc.integer({ min: -5, max: 40 });
const plans = fc.array(fc.record({ madeAt: fc.nat(30), at: time, offAt: fc.option(fc.nat(40)) }));

describe('TimerQueue', () => {
  test.prop([plans])('does each thing once, at its time, unless it is called off before', (plan) => {
    const scheduler = new VirtualTimeScheduler();
    const queue = new TimerQueue(scheduler);
    const done: string[] = [];
    const due: string[] = [];
    for (const [index, { madeAt, at, offAt }] of plan.entries()) {
      const doneAt = Math.max(madeAt, at);
      if (offAt === null || offAt < madeAt || offAt > doneAt) due.push(`${index} at ${doneAt}`);
      if (offAt === doneAt && offAt >= madeAt) continue;
      scheduler.schedule(() => {
        const made = queue.callAt(at, () => done.push(`${index} at ${scheduler.now()}`));
        if (offAt !== null && offAt >= madeAt) scheduler.schedule(() => made.unsubscribe(), offAt - madeAt);
      }, madeAt);
    }
    scheduler.flush();
    expect(done.sort()).toStrictEqual(due.sort());
  });

  it('does them in the order of their times, then as they were made, also what is made meanwhile', () => {
    const done: string[] = [];
    inVirtualTime(({ scheduler }) => {
      const queue = new TimerQueue(scheduler);
      for (const [name, at] of Object.entries({ c: 9, a: 5, d: 9, b: 5 }))
        queue.callAt(at, () => {
          done.push(`${name}${scheduler.now()}`);
          if (name === 'a') queue.callAt(7, () => done.push(`x${scheduler.now()}`));
        });
    });
    expect(done).toStrictEqual(['a5', 'b5', 'x7', 'c9', 'd9']);
  });

  it('goes on after a thing that throws', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const queue = new TimerQueue(asyncScheduler);
    const done: string[] = [];
    const at = Date.now() + 5;
    queue.callAt(at, () => {
      throw new Error('a fault');
    });
    queue.callAt(at, () => done.push('the next'));
    expect(() => vi.advanceTimersByTime(5)).toThrow('a fault');
    vi.advanceTimersByTime(1);
    expect(done).toStrictEqual(['the next']);
  });

  it('reaches further than one timer can hold', () => {
    const at = 60 * 24 * 3_600_000;
    inVirtualTime(({ scheduler, flush }) => {
      let doneAt = 0;
      new TimerQueue(scheduler).callAt(at, () => (doneAt = scheduler.now()));
      flush();
      expect(doneAt).toBe(at);
    });
  });

  it('has one timer, and none when nothing is left to do', () => {
    const scheduler = new VirtualTimeScheduler();
    const queue = new TimerQueue(scheduler);
    const made = [30, 20, 10, 40].map((at) => queue.callAt(at, () => undefined));
    const waiting = () => scheduler.actions.filter(({ closed }) => !closed).length;
    expect(waiting()).toBe(1);
    for (const each of made) each.unsubscribe();
    for (const each of made) each.unsubscribe();
    expect(waiting()).toBe(0);
    queue.callAt(5, () => undefined);
    expect(waiting()).toBe(1);
  });
});
