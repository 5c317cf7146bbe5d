import { EMPTY, map, of } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { cancelOnTeardown } from '../../../src/operators/cancel-on-teardown.js';
import { jobEvents as events, jobOver } from '../../../src/testing/in-virtual-time.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('cancelOnTeardown', () => {
  it('passes through never, empty, one, many and an error, and cancels nothing that ended', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const jobs = ['|', '--d|', 's-a-d|', 's-#'].map((marbles) => {
        const job = jobOver(cold<JobEvent<string>>(marbles, events));
        expectObservable(cancelOnTeardown(job)).toBe(marbles, events);
        return job;
      });
      flush();
      expect(jobs.map(({ cancels }) => cancels)).toStrictEqual([0, 0, 0, 0]);
    });
  });

  it('cancels the job when it is unsubscribed before its end', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const stream = cold<JobEvent<string>>('s-a---', events);
      const job = jobOver(stream);
      expectObservable(cancelOnTeardown(job), '^---!').toBe('s-a-', events);
      expectSubscriptions(stream.subscriptions).toBe('^---!');
      flush();
      expect(job.cancels).toBe(1);
    });
  });

  it.each([
    ['an operator of rxjs', () => jobOver(EMPTY).pipe(map((event) => event))],
    ['a stream', () => of(events.d)],
    ['something else', () => 5],
  ])('refuses %s: it would be left, and go on at the service', (_, make) => {
    expect(() => cancelOnTeardown(make() as never)).toThrow(InvalidOptionError);
    expect(() => cancelOnTeardown(make() as never)).toThrow('job: is not a job, and could not be cancelled');
  });

  it('does not cancel a job whose outcome is known', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const job = jobOver(cold<JobEvent<string>>('s-d---', events));
      expectObservable(cancelOnTeardown(job), '^---!').toBe('s-d-', events);
      flush();
      expect(job.cancels).toBe(0);
    });
  });
});
