import { fc, test } from '@fast-check/vitest';
import { config, type SchedulerLike, Subscription, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { DueQueue, type Due } from '../../../src/policy/due-queue.js';

/** Notes when it is called, and does something then. */
function noted(name: string, calls: string[], scheduler: SchedulerLike, more = () => {}): Due {
  const due = () => {
    calls.push(`${name} ${scheduler.now()}`);
    more();
  };
  return { dueAt: 0, place: -1, due };
}

describe('DueQueue', () => {
  test.prop([
    fc.array(
      fc.record({
        entry: fc.nat(7),
        at: fc.oneof(fc.nat(20), fc.constant(Infinity)),
        remove: fc.boolean(),
        when: fc.nat(15),
      }),
      { maxLength: 60 },
    ),
  ])('calls each at its last time, in the order of times and then of settings, and no other', (steps) => {
    const scheduler = new VirtualTimeScheduler();
    const queue = new DueQueue(scheduler);
    const calls: string[] = [];
    const entries = Array.from({ length: 8 }, (_, n) => noted(String(n), calls, scheduler));
    const expected = new Map<number, { at: number; turn: number }>();
    const wanted: string[] = [];
    const until = (now: number) => {
      const due = [...expected].filter(([, { at }]) => at <= now);
      due.sort(([, one], [, other]) => one.at - other.at || one.turn - other.turn);
      for (const [entry, { at }] of due) {
        expected.delete(entry);
        wanted.push(`${entry} ${at}`);
      }
    };
    const inTime = [...steps].sort((one, other) => one.when - other.when);
    inTime.forEach(({ entry, at, remove, when }, turn) => {
      scheduler.maxFrames = when;
      scheduler.flush();
      scheduler.frame = when;
      until(when);
      if (remove) {
        queue.remove(entries[entry]!);
        expected.delete(entry);
      } else {
        queue.set(entries[entry]!, Math.max(at, when + 1));
        expected.set(entry, { at: Math.max(at, when + 1), turn });
      }
    });
    scheduler.maxFrames = 1_000;
    scheduler.flush();
    until(1_000);
    expect(calls).toStrictEqual(wanted);
  });

  it('has one timer, and none once nothing is due', () => {
    const timers: Subscription[] = [];
    const scheduler: SchedulerLike = {
      now: () => 0,
      schedule: () => {
        const timer = new Subscription();
        timers.push(timer);
        return timer;
      },
    };
    const queue = new DueQueue(scheduler);
    const waiting = [5, 9, 7, 3].map((at) => {
      const due = noted('', [], scheduler);
      queue.set(due, at);
      return due;
    });
    expect(timers.map(({ closed }) => closed)).toStrictEqual([true, false]);
    for (const due of waiting) queue.remove(due);
    expect(timers.filter(({ closed }) => !closed)).toStrictEqual([]);
  });

  it('calls what is taken back, or set anew, meanwhile not now', () => {
    const scheduler = new VirtualTimeScheduler();
    const queue = new DueQueue(scheduler);
    const calls: string[] = [];
    const [late, gone] = ['late', 'gone'].map((name) => noted(name, calls, scheduler));
    const first = noted('first', calls, scheduler, () => {
      queue.remove(gone!);
      queue.set(late!, 3);
    });
    for (const due of [first, late!, gone!]) queue.set(due, 2);
    scheduler.flush();
    expect(calls).toStrictEqual(['first 2', 'late 3']);
  });

  it('takes what is set for a time that is past in its turn, with all that is due', () => {
    const scheduler = new VirtualTimeScheduler();
    const queue = new DueQueue(scheduler);
    const calls: string[] = [];
    let times = 0;
    const again = noted('again', calls, scheduler, () => {
      times += 1;
      if (times < 3) queue.set(again, -5);
    });
    const other = noted('other', calls, scheduler);
    queue.set(again, 1);
    queue.set(other, 1);
    scheduler.flush();
    expect(calls).toStrictEqual(['again 1', 'other 1', 'again 1', 'again 1']);
  });

  it('reports the error of one, and calls those behind it', () => {
    const scheduler = new VirtualTimeScheduler();
    const queue = new DueQueue(scheduler);
    const calls: string[] = [];
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const fault = new Error('broken');
    const broken = noted('broken', calls, scheduler, () => {
      throw fault;
    });
    vi.useFakeTimers();
    for (const due of [broken, noted('sound', calls, scheduler)]) queue.set(due, 1);
    scheduler.flush();
    vi.runAllTimers();
    vi.useRealTimers();
    config.onUnhandledError = null;
    expect(calls).toStrictEqual(['broken 1', 'sound 1']);
    expect(reported).toStrictEqual([fault]);
  });

  it('waits on after the clock was set back, and takes new times after it was set forward', () => {
    const timers: { work: () => void; delay: number }[] = [];
    let now = 0;
    const scheduler: SchedulerLike = {
      now: () => now,
      schedule: ((work: () => void, delay = 0) => {
        timers.push({ work, delay });
        return new Subscription();
      }) as SchedulerLike['schedule'],
    };
    const queue = new DueQueue(scheduler);
    const calls: string[] = [];
    queue.set(noted('a', calls, scheduler), 1_000);
    now = -3_600_000;
    timers[0]!.work();
    expect([calls, timers[1]!.delay]).toStrictEqual([[], 3_601_000]);
    now = 7_200_000;
    queue.set(noted('b', calls, scheduler), 7_200_010);
    expect(timers[2]!.delay).toBe(0);
    timers[2]!.work();
    expect([calls, timers[3]!.delay]).toStrictEqual([['a 7200000'], 10]);
  });
});
