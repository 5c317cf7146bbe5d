import { NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pollUntilTerminal, type PollTask } from '../../../../src/operators/requests/poll-until-terminal.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { timersOf } from '../../../../src/policy/client-clock.js';
import { DueQueue } from '../../../../src/policy/due-queue.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualContext,
  type Virtual,
} from '../../../support/virtual-time.js';

const other = '{"id":"J","status":"COMPLETED"}';
const replies = {
  p: replied(200, { id: 'j', status: 'IN_PROGRESS' }),
  d: replied(200, { id: 'j', status: 'COMPLETED', output: 'out' }),
  n: replied(404, { error: 'gone' }),
  x: replied(500, 'oops'),
  o: replied(200, other),
  u: replied(200, { id: 'j', status: 'completed', output: 'out' }),
};
const p = { type: 'status', status: 'IN_PROGRESS' };
const d = { type: 'ended', outcome: { status: 'completed', jobId: 'j', output: 'out', costUsd: null } };
const message = 'GET /v2/e/status/j: no end within 7 ms; the job may still run';
const lateWith = (more: string) => ({
  type: 'ended',
  outcome: { status: 'failed', code: 'deadline', paid: 'maybe', jobId: 'j', message: message + more },
});
const late = lateWith('');
const afterFault = (fault: string) => lateWith(`; the last poll failed: ${fault}`);

/** Polls every 3 ms to a deadline; each poll is answered by these marbles. */
const polling = (
  { cold, scheduler }: Virtual,
  at: number,
  answer: string,
  more: Partial<PollTask> = {},
  { gate, sleepsAt = Infinity, later = answer }: { gate?: Gate; sleepsAt?: number; later?: string } = {},
) => {
  const reply = cold(answer, replies);
  const lateReply = cold(later, replies);
  let calls = 0;
  const task: PollTask = {
    key: 'k',
    jobId: 'j',
    submittedAt: 0,
    request: requestTo('/v2/e/status/j', 'GET'),
    schedule: pollFixed(3, scheduler),
    backoff: { initialMs: 2, factor: 1, maxMs: 2 },
    atOnce: false,
    onCall: () => (calls += 1),
    ...more,
  };
  const isAwake = () => scheduler.frame < sleepsAt;
  const clock = { ...timersOf(scheduler), now: () => scheduler.now() + (isAwake() ? 0 : 3_600_000) };
  const context = virtualContext(scheduler, () => (isAwake() ? reply : lateReply), {
    scheduler: clock,
    deadlines: new DueQueue(clock),
    ...(gate && { gate }),
  });
  return { reply, calls: () => calls, result: pollUntilTerminal(task, { at, deadlineMs: 7 }, context) };
};

const status = requestTo('/v2/e/status/j', 'GET');
const hasty = { request: { ...status, timeouts: { ...status.timeouts, requestMs: 20 } } };

describe('pollUntilTerminal, to its deadline', () => {
  it('passes the end on when it comes in time', () => {
    inVirtualTime((virtual) => {
      const { result, calls } = polling(virtual, 7, '-d|');
      virtual.expectObservable(result).toBe('----(d|)', { d });
      virtual.flush();
      expect(calls()).toBe(1);
    });
  });

  it('gives up a job that was asked for, in the middle of a poll', () => {
    inVirtualTime((virtual) => {
      const { result, reply } = polling(virtual, 7, '--p|');
      virtual.expectObservable(result).toBe('-----p-(l|)', { p, l: late });
      virtual.expectSubscriptions(reply.subscriptions).toBe(['---^-!', '------^!']);
    });
  });

  it.each([
    ['-d|', d],
    ['-p|', late],
    ['x', afterFault('GET /v2/e/status/j: HTTP 500: oops')],
    ['-o|', afterFault(`GET /v2/e/status/j: HTTP 200: not readable as the job that was asked for: ${other}`)],
    ['-u|', lateWith('; its last state is not known: "completed"')],
  ])('asks once all the same for one that was not: %s', (answer, ended) => {
    inVirtualTime((virtual) => {
      const { result } = polling(virtual, 2, answer);
      const marbles = answer === 'x' ? '--(e|)' : '---(e|)';
      virtual.expectObservable(result).toBe(marbles, { e: ended });
    });
  });

  it('awaits the first answer if its poll is on the wire at the deadline', () => {
    inVirtualTime((virtual) => {
      const { result, calls } = polling(virtual, 4, '---d|');
      virtual.expectObservable(result).toBe('------(d|)', { d });
      virtual.flush();
      expect(calls()).toBe(1);
    });
  });

  it('awaits no longer than the time limit of its request, also from a transport that keeps none', () => {
    inVirtualTime((virtual) => {
      const { result, reply } = polling(virtual, 4, '-', hasty);
      const ended = afterFault('no answer within 20 ms');
      virtual.expectObservable(result).toBe('24ms (e|)', { e: ended });
      virtual.expectSubscriptions(reply.subscriptions).toBe('---^ 20ms !');
    });
  });

  it('awaits it beyond that time limit if the process stood still meanwhile, because it may be there already', () => {
    inVirtualTime((virtual) => {
      const { result, calls } = polling(virtual, 4, '25ms d|', hasty, { sleepsAt: 20 });
      virtual.expectObservable(result).toBe('28ms (d|)', { d });
      virtual.flush();
      expect(calls()).toBe(1);
    });
  });

  it('awaits the gate beyond that time limit, and then an answer', () => {
    inVirtualTime((virtual) => {
      const admit = () => virtual.cold<{ why: 'gate'; forMs: number }>('50ms |');
      const { result } = polling(virtual, 4, '15ms d|', hasty, { gate: { admit, observe: () => undefined } });
      virtual.expectObservable(result).toBe('68ms (d|)', { d });
    });
  });

  it('awaits the gate if no poll has passed it by the deadline', () => {
    inVirtualTime((virtual) => {
      const waiting = { type: 'waiting', why: 'gate', forMs: 1_000 };
      const admit = () =>
        virtual.cold<{ why: 'gate'; forMs: number }>('w----|', { w: { why: 'gate', forMs: 1_000 } });
      const { result, calls } = polling(virtual, 4, '-d|', {}, { gate: { admit, observe: () => undefined } });
      virtual.expectObservable(result).toBe('---w-----(d|)', { w: waiting, d });
      virtual.flush();
      expect(calls()).toBe(1);
    });
  });

  it('does not believe that one look that the service no longer knows the job', () => {
    inVirtualTime((virtual) => {
      const { result } = polling(virtual, 0, 'n', {
        schedule: { pollTimes: () => NEVER, observe: () => undefined },
      });
      const e = { type: 'ended', outcome: expect.objectContaining({ code: 'deadline' }) };
      virtual.expectObservable(result).toBe('(e|)', { e });
    });
  });

  describe('that was slept through', () => {
    const schedule = { pollTimes: () => NEVER, observe: () => undefined };
    const asleep = (answer: string, later: string) => {
      const steps: unknown[] = [];
      inVirtualTime((virtual) => {
        const more = { schedule, atOnce: true };
        const { result } = polling(virtual, 7, answer, more, { sleepsAt: 5, later });
        result.subscribe((step) => steps.push([virtual.scheduler.frame, step]));
      });
      return steps;
    };

    it('asks again, and takes the end', () => {
      expect(asleep('-p|', '-d|')).toEqual([
        [1, p],
        [8, d],
      ]);
    });

    it('lets a poll that is on the wire decide', () => {
      expect(asleep('----------d|', '-p|')).toEqual([[10, d]]);
    });

    it('gives up after half a minute', () => {
      expect(asleep('-p|', '-p|')).toEqual([
        [1, p],
        [30_007, late],
      ]);
    });

    it('asks through the faults of a network that is not back yet', () => {
      const steps = asleep('-p|', 'x');
      expect(steps.at(2)).toEqual([9, { type: 'waiting', why: 'backoff', forMs: 2 }]);
      expect(steps.at(-1)).toEqual([30_007, afterFault('GET /v2/e/status/j: HTTP 500: oops')]);
    });
  });

  it('unsubscribes early', () => {
    inVirtualTime((virtual) => {
      const { result, reply } = polling(virtual, 7, '----d|');
      virtual.expectObservable(result, '^---!').toBe('-----');
      virtual.expectSubscriptions(reply.subscriptions).toBe('---^!');
    });
  });
});
