import { describe, expect, it } from 'vitest';
import { LateClock } from '../../../src/policy/client-clock.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { BackstopPolls, CallbackHealth } from '../../../src/webhooks/backstop-polls.js';
import { inVirtualTime, type Virtual } from '../../support/virtual-time.js';

/** A backstop over polls every so many ms. */
function backstopIn({ scheduler }: Virtual, everyMs = 3) {
  const health = new CallbackHealth(scheduler);
  const polls = new BackstopPolls(pollFixed(everyMs, scheduler), health, new LateClock({ scheduler }));
  const job = (key: string) => ({ key, submittedAt: 0 });
  return {
    health,
    polls,
    of: (key: string) => polls.pollTimes(job(key)),
    comes: (key: string) => health.came(key, polls.calledBack(key) ?? 0),
    comesAfterEnd: (key: string) => health.cameAfterEnd(key),
    ends: (key: string) => polls.observe(key, { id: 'j', status: 'COMPLETED' }, scheduler.now()),
    at: (ms: number, work: () => void) => scheduler.schedule(work, ms),
  };
}

const x = { x: undefined };

describe('BackstopPolls', () => {
  it('polls one job by the schedule, and the others rarely, until it is known whether callbacks come', () => {
    inVirtualTime((virtual) => {
      const { of, at } = backstopIn(virtual, 1_000);
      const times: number[] = [];
      const canary = of('canary').subscribe(() => times.push(virtual.scheduler.now()));
      virtual.expectObservable(of('other'), '^ 120001ms !').toBe('60000ms x 59999ms x', x);
      at(120_002, () => canary.unsubscribe());
      virtual.flush();
      expect(times.slice(0, 3)).toStrictEqual([1_000, 2_000, 3_000]);
      expect(times).toHaveLength(120);
    });
  });

  it('lets another job be the one when it has left', () => {
    inVirtualTime((virtual) => {
      const { of } = backstopIn(virtual);
      virtual.expectObservable(of('canary'), '^---!').toBe('---x', x);
      virtual.expectObservable(of('other'), '^----------!').toBe('----x--x--x', x);
    });
  });

  it('polls no other one while the callback about the end that it saw may be on its way', () => {
    inVirtualTime((virtual) => {
      const { of, ends, comesAfterEnd, at, health } = backstopIn(virtual);
      const canary = of('canary').subscribe(() => {
        ends('canary');
        canary.unsubscribe();
      });
      virtual.expectObservable(of('other'), '^ 9000ms !').toBe('6500ms x', x);
      virtual.expectObservable(health.state$).toBe('h 1499ms c', { h: 'hoped', c: 'coming' });
      at(1_500, () => comesAfterEnd('canary'));
      virtual.flush();
      expect(health.slowestMs).toBe(1_500);
    });
  });

  it('polls each job by the schedule once an end was seen whose callback has not come within 2 s', () => {
    inVirtualTime((virtual) => {
      const { of, ends, at, health } = backstopIn(virtual);
      const canary = of('canary').subscribe();
      virtual.expectObservable(of('other'), '^ 2009ms !').toBe('2001ms x--x--x', x);
      virtual.expectObservable(health.state$).toBe('h 2000ms m', { h: 'hoped', m: 'missing' });
      at(1, () => ends('canary'));
      at(2_010, () => canary.unsubscribe());
    });
  });

  it('counts no callback as missing that comes up to 2 s after the poll', () => {
    inVirtualTime((virtual) => {
      const { ends, comes, at, health } = backstopIn(virtual);
      at(1, () => ends('a'));
      at(2_000, () => comes('a'));
      virtual.expectObservable(health.state$).toBe('h 1999ms c', { h: 'hoped', c: 'coming' });
    });
  });

  it('polls a job first after three times the slowest turnaround, from 5 s to 10 min, while callbacks come', () => {
    inVirtualTime((virtual) => {
      const { of, health } = backstopIn(virtual);
      health.came('fast', 10);
      virtual.expectObservable(of('a'), '^ 10001ms !').toBe('5s x 4999ms x', x);
    });
    inVirtualTime((virtual) => {
      const { of, health } = backstopIn(virtual);
      health.came('slow', 20_000);
      virtual.expectObservable(of('a'), '^ 60001ms !').toBe('60s x', x);
    });
    inVirtualTime((virtual) => {
      const { of, health } = backstopIn(virtual);
      health.came('very slow', 7_200_000);
      virtual.expectObservable(of('a'), '^ 600001ms !').toBe('600s x', x);
    });
  });

  it('goes back and forth with what most of the last 20 ends show', () => {
    inVirtualTime((virtual) => {
      const { of, ends, comes, at, health } = backstopIn(virtual);
      const states: string[] = [];
      health.state$.subscribe((state) => states.push(state));
      at(0, () => comes('a'));
      for (const key of ['b', 'c', 'd']) at(10, () => ends(key));
      for (const key of ['e', 'f']) at(3_000, () => comes(key));
      virtual.expectObservable(of('z'), '^ 2016ms !').toBe('2010ms x--x--x', x);
      virtual.flush();
      expect(states).toStrictEqual(['hoped', 'coming', 'missing', 'coming']);
    });
  });

  it('takes the end that a callback told for no missing callback', () => {
    inVirtualTime((virtual) => {
      const { of, ends, comes, at, health } = backstopIn(virtual);
      const states: string[] = [];
      health.state$.subscribe((state) => states.push(state));
      const following = of('a').subscribe();
      at(1, () => {
        comes('a');
        ends('a');
        following.unsubscribe();
      });
      virtual.flush();
      expect(virtual.scheduler.now()).toBeLessThan(6_000);
      expect(states).toStrictEqual(['hoped', 'coming']);
    });
  });
});
