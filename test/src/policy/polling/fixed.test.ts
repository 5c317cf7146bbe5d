import { takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../../src/contract/millrace-error.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';

function run(
  work: (helpers: Parameters<Parameters<TestScheduler['run']>[0]>[0], scheduler: TestScheduler) => void,
): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run((helpers) => work(helpers, scheduler));
}

const values = { p: undefined };

describe('pollFixed', () => {
  it('asks every so many ms from the submission on, and never ends by itself', () => {
    run(({ expectObservable }, scheduler) => {
      const times = pollFixed(3, scheduler).pollTimes({ key: 'a', submittedAt: 0 });
      expectObservable(times, '-----------!').toBe('---p--p--p--', values);
    });
  });

  it('asks at once for a job that was submitted long ago', () => {
    run(({ expectObservable }, scheduler) => {
      const times = pollFixed(5, scheduler).pollTimes({ key: 'a', submittedAt: -60_000 });
      expectObservable(times, '------!').toBe('p----p-', values);
    });
  });

  it('counts from the submission for a late subscriber', () => {
    run(({ expectObservable }, scheduler) => {
      const times = pollFixed(5, scheduler).pollTimes({ key: 'a', submittedAt: 0 });
      expectObservable(times, '---^------!').toBe('-----p-----', values);
    });
  });

  it('does not mind what is observed', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollFixed(3, scheduler);
      schedule.observe('a', { id: 'j', status: 'IN_QUEUE' }, 0);
      expectObservable(schedule.pollTimes({ key: 'a', submittedAt: 0 }).pipe(takeUntil(timer(5)))).toBe(
        '---p-|',
        values,
      );
    });
  });

  it.each([0, -1, Number.NaN])('refuses %d', (ms) => {
    expect(() => pollFixed(ms)).toThrow(InvalidOptionError);
  });

  it('needs no scheduler', () => {
    expect(pollFixed(Infinity).pollTimes({ key: 'a', submittedAt: 0 })).toHaveProperty('subscribe');
  });
});
