import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runClock } from '../../../../src/policy/client-clock.js';
import { steadyClock } from '../../../../src/policy/client-clock.js';
import type { RunDatabase } from '../../../../runners/distributed/table/run-ledger.js';
import { resolveWorkerOptions } from '../../../../runners/distributed/worker/worker-options.js';

const hourMs = 3_600_000;

describe('the clock of a run', () => {
  it('goes on by the time that has passed, however the wall clock is set [fault 19]', () => {
    const wall = new VirtualTimeScheduler();
    wall.frame = 10 * hourMs;
    let elapsedMs = 5;
    const clock = runClock(wall, () => elapsedMs);
    const read = [10 * hourMs, 30 * hourMs, 1].map((frame) => {
      wall.frame = frame;
      elapsedMs += 1_000;
      return clock.now() - 10 * hourMs;
    });
    expect(read).toEqual([1_000, 2_000, 3_000]);
  });
});

describe('the clock of a worker', () => {
  afterEach(() => vi.useRealTimers());

  it('does not follow the wall clock: rows in flight would reach their deadlines [fault 19]', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { scheduler } = resolveWorkerOptions({ database: {} as RunDatabase });
    const begunAt = scheduler.now();
    vi.setSystemTime(Date.now() + 2 * hourMs);
    expect(scheduler.now() - begunAt).toBeLessThan(hourMs);
  });
});

describe('the clock of a poll schedule', () => {
  it('goes on where the wall clock is set back, and follows it forwards [fault 19]', () => {
    const wall = new VirtualTimeScheduler();
    const clock = steadyClock(wall);
    const reported = [10 * hourMs, 9 * hourMs, 9 * hourMs + 5, 5 * hourMs, 8 * hourMs].map((frame) => {
      wall.frame = frame;
      return clock.now();
    });
    expect(reported).toEqual([10 * hourMs, 10 * hourMs, 10 * hourMs + 5, 10 * hourMs + 5, 13 * hourMs + 5]);
  });

  it('sets its timers by the wall clock', () => {
    const wall = new VirtualTimeScheduler();
    const rang: unknown[] = [];
    steadyClock(wall).schedule((state) => rang.push(state, wall.now()), 20, 'state');
    wall.flush();
    expect(rang).toEqual(['state', 20]);
  });
});
