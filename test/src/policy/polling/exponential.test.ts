import { concatMap, of, tap, timer, VirtualTimeScheduler } from 'rxjs';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../../src/contract/millrace-error.js';
import { pollExponential, type PollSchedule } from '../../../../src/policy/polling/poll-schedule.js';

const reply = { id: 'j', status: 'IN_QUEUE' };
const values = { p: undefined };

function run(
  work: (helpers: Parameters<Parameters<TestScheduler['run']>[0]>[0], scheduler: TestScheduler) => void,
): void {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run((helpers) => work(helpers, scheduler));
}

/** Polls that are answered `takesMs` later. */
function answered(
  schedule: PollSchedule,
  scheduler: TestScheduler,
  takesMs = 0,
  key = 'a',
  submittedAt = 0,
): Observable<void> {
  const answer = takesMs === 0 ? of(0) : timer(takesMs, scheduler);
  return schedule.pollTimes({ key, submittedAt }).pipe(
    concatMap((time) =>
      answer.pipe(
        tap(() => schedule.observe(key, reply, scheduler.now())),
        concatMap(() => of(time)),
      ),
    ),
  );
}

describe('pollExponential', () => {
  it('asks ever more rarely, up to a longest wait', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 1, factor: 2, maxMs: 4 }, scheduler);
      expectObservable(answered(schedule, scheduler), '-----------------!').toBe(
        '-p-p---p---p---p--',
        values,
      );
    });
  });

  it('waits from the reply on, not from the question', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2, factor: 1, maxMs: 2 }, scheduler);
      expectObservable(answered(schedule, scheduler, 3), '----------------!').toBe(
        '-----p----p----p-',
        values,
      );
    });
  });

  it('asks no further while no reply is observed', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2 }, scheduler);
      expectObservable(schedule.pollTimes({ key: 'a', submittedAt: 0 }), '-------!').toBe('--p-----', values);
    });
  });

  it('hears the replies of its own job only', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2, factor: 1, maxMs: 2 }, scheduler);
      scheduler.schedule(() => schedule.observe('b', reply, 1), 1);
      expectObservable(schedule.pollTimes({ key: 'a', submittedAt: 0 }), '-----!').toBe('--p---', values);
    });
  });

  it('serves several jobs side by side', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2, factor: 2, maxMs: 4 }, scheduler);
      expectObservable(answered(schedule, scheduler, 0, 'a'), '--------!').toBe('--p---p--', values);
      expectObservable(answered(schedule, scheduler, 1, 'b'), '--------!').toBe('---p-----', values);
    });
  });

  it('asks at once for a job that was submitted long ago, then as from the start', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2, factor: 2, maxMs: 8 }, scheduler);
      expectObservable(answered(schedule, scheduler, 0, 'a', -5_000), '----------!').toBe(
        'p---p------',
        values,
      );
    });
  });

  it('begins anew for whoever subscribes anew', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2, factor: 2, maxMs: 8 }, scheduler);
      const polls = answered(schedule, scheduler);
      expectObservable(polls, '---!').toBe('--p-', values);
      expectObservable(polls, '----------^--------!').toBe('----------p---p-----', values);
    });
  });

  it('tells two subscribers of the same job', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 2, factor: 1, maxMs: 2 }, scheduler);
      expectObservable(schedule.pollTimes({ key: 'a', submittedAt: 0 }), '-----!').toBe('--p-p-', values);
      expectObservable(answered(schedule, scheduler), '-----!').toBe('--p-p-', values);
    });
  });

  it('does not wait longer for a job when others of its key are answered', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 4, factor: 1, maxMs: 4 }, scheduler);
      scheduler.schedule(() => schedule.observe('a', { ...reply, id: 'other' }, 3), 3);
      const times = schedule.pollTimes({ key: 'a', jobId: 'j', submittedAt: 0 });
      expectObservable(times, '-------!').toBe('----p--', values);
    });
  });

  it('does not wait an hour longer when the clock is set back by an hour [fault 19]', () => {
    const timers = new VirtualTimeScheduler();
    let setBackMs = 0;
    const scheduler = {
      now: () => timers.now() - setBackMs,
      schedule: timers.schedule.bind(timers),
    };
    const schedule = pollExponential({ initialMs: 10, factor: 1, maxMs: 10 }, scheduler);
    const polledAt: number[] = [];
    const polls = schedule.pollTimes({ key: 'a', submittedAt: 0 }).subscribe(() => {
      polledAt.push(timers.now());
      if (polledAt.length === 3) return polls.unsubscribe();
      setBackMs += 3_600_000;
      schedule.observe('a', reply, scheduler.now());
      setBackMs += 3_600_000;
    });
    timers.flush();
    expect(polledAt).toEqual([10, 20, 30]);
  });

  it('grows from nothing as well', () => {
    run(({ expectObservable }, scheduler) => {
      const schedule = pollExponential({ initialMs: 0, factor: 2, maxMs: 4 }, scheduler);
      expectObservable(answered(schedule, scheduler), '-------!').toBe('p-p---p-', values);
    });
  });

  it.each([
    { initialMs: -1 },
    { factor: 0.5 },
    { maxMs: 100 },
    { initialMs: Number.NaN },
    { initialMs: 0, maxMs: 0 },
  ])('refuses %j', (options) => {
    expect(() => pollExponential(options)).toThrow(InvalidOptionError);
  });
});
