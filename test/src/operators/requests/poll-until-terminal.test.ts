import { config, EMPTY, ignoreElements, Observable, of, Subject, throwError } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobReply } from '../../../../src/contract/service-replies.js';
import { statusEvent } from '../../../../src/operators/requests/outcome-of.js';
import { pollUntilTerminal, type PollTask } from '../../../../src/operators/requests/poll-until-terminal.js';
import type { PollSchedule } from '../../../../src/policy/polling/poll-schedule.js';
import type { Transport } from '../../../../src/transport/transport.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualContext,
  type Virtual,
} from '../../../support/virtual-time.js';

const replies = {
  q: replied(200, { id: 'j', status: 'IN_QUEUE' }),
  p: replied(200, { id: 'j', status: 'IN_PROGRESS', delayTime: 5 }),
  o: replied(200, { id: 'j', status: 'IN_PROGRESS', delayTime: 5, output: { step: 1 } }),
  u: replied(200, { id: 'j', status: 'WARMING_UP' }),
  d: replied(200, { id: 'j', status: 'COMPLETED', output: 'out' }),
  n: replied(404, { error: 'gone' }),
  x: replied(503, 'later'),
};
const q = { type: 'status', status: 'IN_QUEUE' } as const;
const p = { type: 'status', status: 'IN_PROGRESS', delayTimeMs: 5 };
const o = { ...p, partial: { step: 1 } };
const u = { type: 'status', status: 'WARMING_UP' };
const e = { type: 'ended', outcome: { status: 'completed', jobId: 'j', output: 'out', costUsd: null } };

/** A poll whose times and replies are marbles; notes what the schedule was told. */
const polling = (
  { cold, scheduler }: Virtual,
  times: string,
  answers: string[],
  more: Partial<PollTask> = {},
) => {
  const reported: string[] = [];
  const ticks = cold(times);
  const schedule: PollSchedule = {
    pollTimes: () => ticks as never,
    observe: (key, reply: JobReply, at) => reported.push(`${key} ${reply.status} ${at}`),
  };
  const streams = answers.map((marbles) => cold(marbles, replies));
  let asked = 0;
  const transport: Transport = () => streams[Math.min(asked++, streams.length - 1)]!;
  const task: PollTask = {
    key: 'k',
    jobId: 'j',
    submittedAt: 0,
    request: requestTo('/v2/e/status/j', 'GET'),
    schedule,
    backoff: { initialMs: 2, factor: 1, maxMs: 2 },
    atOnce: false,
    onCall: () => undefined,
    ...more,
  };
  const never = { at: Infinity, deadlineMs: Infinity };
  const result = pollUntilTerminal(task, never, virtualContext(scheduler, transport));
  return { reported, ticks, streams, result };
};

describe('pollUntilTerminal', () => {
  it('asks at the times of the schedule until the job has ended, and tells of each change', () => {
    inVirtualTime((virtual) => {
      const { result, ticks, streams, reported } = polling(virtual, '--t-t-t-t-t-t', [
        'q',
        'q',
        'p',
        'o',
        'd',
      ]);
      virtual.expectObservable(result).toBe('--q---p-o-(e|)', { q, p, o, e });
      virtual.expectSubscriptions(ticks.subscriptions).toBe('^---------!');
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe('--(^!)');
      virtual.flush();
      expect(reported).toStrictEqual([
        'k IN_QUEUE 2',
        'k IN_QUEUE 4',
        'k IN_PROGRESS 6',
        'k IN_PROGRESS 8',
        'k COMPLETED 10',
      ]);
    });
  });

  it('never overlaps: times that fall into a poll, or into the waits between its tries, pass unused', () => {
    inVirtualTime((virtual) => {
      const { result, streams } = polling(virtual, '-ttttttttttt', ['-x|', '--q|', 'd']);
      const w = { type: 'waiting', why: 'backoff', forMs: 2 };
      virtual.expectObservable(result).toBe('--w---q(e|)', { w, q, e });
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe('-^!');
      virtual.expectSubscriptions(streams[1]!.subscriptions).toBe('----^-!');
      virtual.expectSubscriptions(streams[2]!.subscriptions).toBe('-------(^!)');
    });
  });

  it('asks at once for a job that was left for a while, and tells nothing that was told before', () => {
    inVirtualTime((virtual) => {
      const { result } = polling(virtual, '----t', ['q', 'd'], { atOnce: true, last: q });
      virtual.expectObservable(result).toBe('----(e|)', { e });
    });
  });

  it('goes on in a state that is not known, and when times run out [fault 13]', () => {
    inVirtualTime((virtual) => {
      const { result, streams } = polling(virtual, '-t|', ['u']);
      virtual.expectObservable(result, '^-----!').toBe('-u----', { u });
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe('-(^!)');
      const silent = polling(virtual, '-', ['d']);
      virtual.expectObservable(silent.result, '^---!').toBe('----');
    });
  });

  it('ends when the service no longer knows the job', () => {
    inVirtualTime((virtual) => {
      const { result } = polling(virtual, '-t', ['n'], { submittedAt: -600_000 });
      const w = { type: 'waiting', why: 'not-found', forMs: 2 };
      const gone = { type: 'ended', outcome: expect.objectContaining({ code: 'expired', paid: 'maybe' }) };
      virtual.expectObservable(result).toBe('-w-(g|)', { w, g: gone });
    });
  });

  it('aborts the poll that is out when it is unsubscribed, and tells the schedule nothing of it', () => {
    inVirtualTime((virtual) => {
      const { result, ticks, streams, reported } = polling(virtual, '-t', ['----q|']);
      virtual.expectObservable(result, '^--!').toBe('---');
      virtual.expectSubscriptions(ticks.subscriptions).toBe('^--!');
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe('-^-!');
      virtual.flush();
      expect(reported).toStrictEqual([]);
    });
  });

  it('takes a time that the schedule gives in return for a reply', () => {
    inVirtualTime((virtual) => {
      const times = new Subject<void>();
      const schedule: PollSchedule = { pollTimes: () => times, observe: () => times.next() };
      const { result } = polling(virtual, '', ['-q|', '-p|', '-d|'], { schedule, atOnce: true });
      virtual.expectObservable(result).toBe('-qp(e|)', { q, p, e });
    });
  });
});

describe('poll times that are over before the job has ended', () => {
  const fault = new Error('broken');
  const broken = (): never => {
    throw fault;
  };
  let reported: unknown[];
  beforeEach(() => {
    reported = [];
    config.onUnhandledError = (error) => void reported.push(error);
  });
  afterEach(() => {
    config.onUnhandledError = null;
  });

  /** When the job is polled within 12 s, in ms. */
  const pollsBy = (pollTimes: PollSchedule['pollTimes'], act: PollTask['begun'] = () => {}) => {
    const at: number[] = [];
    inVirtualTime((virtual) => {
      const { scheduler } = virtual;
      const { result } = polling(virtual, '', ['(q|)'], {
        schedule: { pollTimes, observe: () => undefined },
        onCall: () => at.push(scheduler.now()),
        begun: act,
      });
      virtual.expectObservable(result.pipe(ignoreElements()), '12s !').toBe('');
    });
    return at;
  };

  it.each([
    ['fail at once', broken],
    ['fail as a stream', () => throwError(() => fault)],
    ['fail twice', () => new Observable<void>((times) => [1, 2].forEach(() => times.error(fault)))],
  ])('because they %s: it is polled every 5 s, and the error is reported', async (_, pollTimes) => {
    expect(pollsBy(pollTimes)).toStrictEqual([5_000, 10_000]);
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(reported).toStrictEqual([fault]);
  });

  it.each([
    ['complete without one', () => EMPTY, [5_000, 10_000]],
    ['complete after one', () => of(undefined), [0, 5_000, 10_000]],
  ])('because they %s: it is polled every 5 s', (_, pollTimes, expected) => {
    expect(pollsBy(pollTimes)).toStrictEqual(expected);
    expect(reported).toStrictEqual([]);
  });

  it('take no further time of the schedule, and a poll that is asked for otherwise', () => {
    let ask = () => {};
    const pollTimes = () =>
      new Observable<void>((times) => {
        times.complete();
        times.next();
        ask();
      });
    expect(pollsBy(pollTimes, (polls) => (ask = () => polls.poll()))).toStrictEqual([0, 5_000, 10_000]);
  });
});

describe('statusEvent', () => {
  it('carries only what the reply said', () => {
    expect(statusEvent({ id: 'j', status: 'IN_QUEUE' })).toStrictEqual(q);
    expect(statusEvent({ id: 'j', status: 'IN_PROGRESS', delayTime: 5, output: { step: 1 } })).toStrictEqual(
      o,
    );
  });
});
