import {
  EMPTY,
  filter,
  ignoreElements,
  NEVER,
  retry,
  startWith,
  tap,
  throwError,
  timer,
  type ObservableInput,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CheckpointEvent, Outcome } from '../../../../src/contract/outcome.js';
import type { ClientContext } from '../../../../src/operators/requests/exchange.js';
import { InvalidInputError } from '../../../../src/operators/job-error.js';
import { createJob } from '../../../../src/operators/purchase/create-job.js';
import type { JobSpec } from '../../../../src/operators/purchase/job-spec.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { createRetryQuota } from '../../../../src/policy/retry-quota.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { WireReply } from '../../../../src/transport/transport.js';
import { virtualSpec } from '../../../support/virtual-spec.js';
import { inVirtualTime, replied, virtualContext, type Virtual } from '../../../support/virtual-time.js';

const replies = {
  a: replied(200, { id: 'j', status: 'IN_QUEUE' }),
  p: replied(200, { id: 'j', status: 'IN_PROGRESS' }),
  d: replied(200, { id: 'j', status: 'COMPLETED', output: 'out' }),
  f: replied(400, { id: 'j', status: 'FAILED', error: 'bad url' }),
  b: replied(400, { error: 'no input' }),
  x: replied(500, 'oops'),
  h: replied(200, '<html>'),
  l: replied(429, 'slow down'),
  k: replied(401, { error: 'no such key' }),
  n: replied(404, { error: 'no such endpoint' }),
  c: replied(200, { id: 'j', status: 'CANCELLED' }),
};
const events = {
  s: { type: 'submitting', sync: false },
  S: { type: 'submitting', sync: true },
  a: { type: 'accepted', jobId: 'j' },
  q: { type: 'status', status: 'IN_QUEUE' },
  p: { type: 'status', status: 'IN_PROGRESS' },
  w: { type: 'waiting', why: 'backoff', forMs: 4 },
  d: done({ status: 'completed', jobId: 'j', output: 'out', costUsd: null }),
} as const;

function done(outcome: unknown) {
  return { type: 'settled', outcome: outcome as Outcome<unknown> } as const;
}
function failure(code: string, paid: string, more: object = {}) {
  return done(expect.objectContaining({ status: 'failed', code, paid, ...more }));
}

/** A job whose replies are marbles, one stream a request, by the kind of request. */
const jobWith = (
  virtual: Virtual,
  script: { post?: string[]; get?: string[]; cancel?: string[] },
  overrides: Partial<JobSpec<unknown>> = {},
  context: Partial<ClientContext> = {},
) => {
  const noted = virtualSpec(virtual, overrides);
  const streams = (lines: string[] = []) =>
    lines.map((line) => virtual.cold(line, replies, new Error('reset')));
  const posts = streams(script.post);
  const gets = streams(script.get);
  const cancels = streams(script.cancel);
  const sent: string[] = [];
  const next = (all: typeof posts, before: number) => all[Math.min(before, all.length - 1)] ?? NEVER;
  const gate: Gate = { admit: () => EMPTY, observe: () => undefined };
  const transport: ClientContext['transport'] = ({ url }) => {
    const kind = /\/(run|status|cancel)\b/.exec(url)?.[1] ?? 'route';
    const before = sent.filter((other) => other.startsWith(kind)).length;
    sent.push(`${kind} ${virtual.scheduler.now()}`);
    return kind === 'status'
      ? next(gets, before)
      : kind === 'cancel'
        ? next(cancels, before)
        : next(posts, before);
  };
  const job = createJob(noted.spec, virtualContext(virtual.scheduler, transport, { gate, ...context }));
  return { job, sent, posts, gets, cancels, ...noted };
};

const tenMsBackoff = (virtual: Virtual): JobSpec<unknown>['options'] => {
  const { options } = virtualSpec(virtual).spec;
  return { ...options, retry: { ...options.retry, initialMs: 10, maxMs: 10 } };
};

/** Looks at something when virtual time is over. */
const finallyLook = (virtual: Virtual, look: () => void) => {
  virtual.flush();
  look();
};
const types = (checkpoints: CheckpointEvent<unknown>[]) => checkpoints.map(({ type }) => type);

describe('a purchase', () => {
  it('goes submit → accept → poll → settle, each step marked before the next', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints, sent, reported } = jobWith(virtual, { post: ['-a|'], get: ['--p|', '--d|'] });
      virtual.expectObservable(job).toBe('s(aq)p--(d|)', events);
      virtual.expectObservable(job, '---------------^').toBe('---------------(d|)', events);
      finallyLook(virtual, () => {
        expect(checkpoints).toStrictEqual([
          { type: 'intent', sync: false, attempt: 1 },
          { type: 'accepted', jobId: 'j' },
          { type: 'settled', outcome: events.d.outcome },
        ]);
        expect(sent).toStrictEqual(['run 0', 'status 3', 'status 6']);
        expect(reported).toHaveLength(5);
        expect([job.key, job.jobId, job.statusCalls]).toStrictEqual(['k', 'j', 2]);
      });
    });
  });

  it('waits for each mark before it goes on', () => {
    inVirtualTime((virtual) => {
      const checkpoint = () => virtual.cold('-----|');
      const { job, sent } = jobWith(virtual, { post: ['-a|'], get: ['d'] }, { checkpoint });
      virtual.expectObservable(job).toBe('-----s-----(aq)-(d|)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 5', 'status 11']));
    });
  });

  it('tells a second subscriber the last event first, and sends nothing for it', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['---a|'], get: ['----d|'] });
      virtual.expectObservable(job).toBe('s--(aq)(d|)', events);
      virtual.expectObservable(job, '-^').toBe('-s-(aq)(d|)', events);
      virtual.expectObservable(job, '-----^').toBe('-----q-(d|)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'status 3']));
    });
  });

  it('takes a final reply to the POST as the end', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints } = jobWith(virtual, { post: ['-d|'] }, { sync: true });
      virtual.expectObservable(job).toBe('S(d|)', events);
      finallyLook(virtual, () => {
        expect(types(checkpoints)).toStrictEqual(['intent', 'settled']);
        expect(job.jobId).toBe('j');
      });
    });
  });

  it.each([
    ['f', 'rejected', 'no'],
    ['b', 'rejected', 'no'],
    ['c', 'job-cancelled', 'no'],
    ['x', 'unknown', 'maybe'],
    ['h', 'unknown', 'maybe'],
    ['#', 'unknown', 'maybe'],
  ])('ends on reply %s as %s, paid %s, with one POST', (reply, code, paid) => {
    inVirtualTime((virtual) => {
      const { job, checkpoints, sent } = jobWith(virtual, { post: [`-${reply}|`.replace('#|', '#')] });
      virtual.expectObservable(job).toBe('s(e|)', { ...events, e: failure(code, paid) });
      finallyLook(virtual, () => {
        expect(types(checkpoints)).toStrictEqual(['intent', 'settled']);
        expect(sent).toHaveLength(1);
      });
    });
  });

  it.each([
    ['k', 'unauthorized'],
    ['n', 'endpoint-not-found'],
  ])('stops on reply %s as %s and gives the reservation back', (reply, code) => {
    inVirtualTime((virtual) => {
      const { job, checkpoints, sent } = jobWith(virtual, { post: [`-${reply}|`] });
      virtual.expectObservable(job).toBe('s(e|)', { ...events, e: failure(code, 'no') });
      finallyLook(virtual, () => {
        expect(types(checkpoints)).toStrictEqual(['intent', 'refused', 'settled']);
        expect(sent).toHaveLength(1);
      });
    });
  });

  it('says what to do when /runsync ran into its timeout', () => {
    inVirtualTime((virtual) => {
      const fault = new TransportError('response', 'ETIMEDOUT', 'maybe', true, 'no reply within 60000 ms');
      const { spec } = virtualSpec(virtual, { sync: true });
      const job = createJob(
        spec,
        virtualContext(virtual.scheduler, () => throwError(() => fault)),
      );
      const message = expect.stringMatching(
        /^no reply within 60000 ms; it may have been accepted.*--runsync-timeout.*--mode async/,
      );
      virtual.expectObservable(job).toBe('(Se|)', { ...events, e: failure('unknown', 'maybe', { message }) });
    });
  });

  it('has a body for its answer on a route, and no id', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints } = jobWith(virtual, { post: ['-p|'] }, { purpose: 'route-post', sync: true });
      expect(job.jobId).toBe('');
      const output = { id: 'j', status: 'IN_PROGRESS' };
      virtual.expectObservable(job).toBe('S(e|)', {
        ...events,
        e: done({ status: 'completed', jobId: '', output, costUsd: null }),
      });
      finallyLook(virtual, () => expect(types(checkpoints)).toStrictEqual(['intent', 'settled']));
    });
  });

  it('errors on an input that is not of its schema, and sends nothing', () => {
    inVirtualTime((virtual) => {
      const request = throwError(() => new InvalidInputError('prompt: is empty'));
      const { job, checkpoints, sent } = jobWith(virtual, {}, { request });
      virtual.expectObservable(job).toBe('#', undefined, new InvalidInputError('prompt: is empty'));
      virtual.expectObservable(job, '--^').toBe('--#', undefined, new InvalidInputError('prompt: is empty'));
      finallyLook(virtual, () => expect([checkpoints, sent]).toStrictEqual([[], []]));
    });
  });
});

describe('a purchase that is provably refused', () => {
  it('is sent again after a wait, each POST with its own intent [fault 1]', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints, sent } = jobWith(virtual, { post: ['-l|', '-d|'] });
      const w = { ...events.w, why: 'rate-limited' };
      virtual.expectObservable(job).toBe('sw---s(d|)', { ...events, w });
      finallyLook(virtual, () => {
        expect(types(checkpoints)).toStrictEqual(['intent', 'refused', 'intent', 'settled']);
        expect(checkpoints[1]).toMatchObject({
          why: 'POST /v2/e/run: HTTP 429: slow down; tries: 1',
          httpStatus: 429,
        });
        expect(checkpoints[2]).toMatchObject({ attempt: 2 });
        expect(sent).toStrictEqual(['run 0', 'run 5']);
      });
    });
  });

  it('ends as refused when its tries are used up', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints } = jobWith(virtual, { post: ['l'] });
      const w = { ...events.w, why: 'rate-limited' };
      const e = failure('refused', 'no', { httpStatus: 429 });
      virtual.expectObservable(job).toBe('(sw)(sw)(se|)', { ...events, w, e });
      finallyLook(virtual, () => {
        const tries = ['intent', 'refused'];
        expect(types(checkpoints)).toStrictEqual([...tries, ...tries, ...tries, 'settled']);
      });
    });
  });

  it('ends as unreachable when no connection could be made', () => {
    inVirtualTime((virtual) => {
      const fault = new TransportError('connect', 'ECONNREFUSED', 'no', false, 'connection refused');
      const { spec, checkpoints } = virtualSpec(virtual);
      const job = createJob(
        spec,
        virtualContext(virtual.scheduler, () => throwError(() => fault)),
      );
      const e = failure('unreachable', 'no', { message: 'connection refused; tries: 3' });
      virtual.expectObservable(job).toBe('(sw)(sw)(se|)', { ...events, e });
      finallyLook(virtual, () => expect(types(checkpoints).at(-2)).toBe('refused'));
    });
  });

  it('is not sent again when the quota of retries is empty [fault 5]', () => {
    inVirtualTime((virtual) => {
      const quota = createRetryQuota(5);
      const { job } = jobWith(virtual, { post: ['l', 'l', 'd'] }, {}, { quota });
      const w = { ...events.w, why: 'rate-limited' };
      virtual.expectObservable(job).toBe('(sw)(se|)', { ...events, w, e: failure('refused', 'no') });
      finallyLook(virtual, () => expect(quota.tokens).toBe(0));
    });
    inVirtualTime((virtual) => {
      const quota = createRetryQuota(5);
      const { job } = jobWith(virtual, { post: ['l', 'd'] }, {}, { quota });
      const w = { ...events.w, why: 'rate-limited' };
      virtual.expectObservable(job).toBe('(sw)(sd|)', { ...events, w });
      finallyLook(virtual, () => expect(quota.tokens).toBe(5));
    });
  });
});

describe('unsubscribing before the POST has left', () => {
  it('sends nothing from the gate, and a later subscriber goes on', () => {
    inVirtualTime((virtual) => {
      const gate: Gate = {
        admit: () => timer(5, virtual.scheduler).pipe(ignoreElements()),
        observe: () => undefined,
      };
      const { job, sent, checkpoints } = jobWith(virtual, { post: ['-d|'] }, {}, { gate });
      virtual.expectObservable(job, '^--!').toBe('---');
      virtual.expectObservable(job, '----------^').toBe('---------------s(d|)', events);
      finallyLook(virtual, () => {
        expect(sent).toStrictEqual(['run 15']);
        expect(types(checkpoints)).toStrictEqual(['intent', 'settled']);
      });
    });
  });

  it('sends nothing from the backoff, and a later subscriber waits for the rest of it', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['l', '-d|'] }, { options: tenMsBackoff(virtual) });
      const w = { ...events.w, why: 'rate-limited', forMs: 10 };
      const v = { ...w, forMs: 7 };
      virtual.expectObservable(job, '^-!').toBe('(sw)', { ...events, w });
      virtual.expectObservable(job, '---^').toBe('---(wv)---s(d|)', { ...events, w, v });
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'run 10']));
    });
  });

  it('gives the reservation back when the intent was on its way, and a later subscriber buys', () => {
    inVirtualTime((virtual) => {
      const noted: string[] = [];
      const checkpoint = ({ type }: CheckpointEvent<unknown>) => {
        noted.push(type);
        return virtual.cold('---|');
      };
      const { job, sent } = jobWith(virtual, { post: ['-d|'] }, { checkpoint });
      virtual.expectObservable(job, '^-!').toBe('--');
      virtual.expectObservable(job, '----------^').toBe('-------------s---(d|)', events);
      finallyLook(virtual, () => {
        expect(noted).toStrictEqual(['intent', 'refused', 'intent', 'settled']);
        expect(sent).toStrictEqual(['run 13']);
      });
    });
  });

  it('joins the intent that is on its way when somebody comes back in time', () => {
    inVirtualTime((virtual) => {
      const noted: string[] = [];
      const checkpoint = ({ type }: CheckpointEvent<unknown>) => {
        noted.push(type);
        return virtual.cold('----|');
      };
      const { job, sent } = jobWith(virtual, { post: ['-d|'] }, { checkpoint });
      virtual.expectObservable(job, '^-!').toBe('--');
      virtual.expectObservable(job, '---^').toBe('----s----(d|)', events);
      finallyLook(virtual, () => {
        expect(noted).toStrictEqual(['intent', 'settled']);
        expect(sent).toStrictEqual(['run 4']);
      });
    });
  });
});

describe('unsubscribing afterwards', () => {
  it('lets the POST come back and marks its id; a later subscriber polls at once', () => {
    inVirtualTime((virtual) => {
      const { job, sent, checkpoints, posts, reported } = jobWith(virtual, {
        post: ['-----a|'],
        get: ['-d|'],
      });
      virtual.expectObservable(job, '^-!').toBe('s-', events);
      virtual.expectSubscriptions(posts[0]!.subscriptions).toBe('^----!');
      virtual.expectObservable(job, '---------^').toBe('---------q(d|)', events);
      finallyLook(virtual, () => {
        expect(types(checkpoints)).toStrictEqual(['intent', 'accepted', 'settled']);
        expect(sent).toStrictEqual(['run 0', 'status 9']);
        expect(reported.map(({ type }) => type)).toStrictEqual([
          'submitting',
          'accepted',
          'status',
          'settled',
        ]);
      });
    });
  });

  it('keeps an outcome that nobody was there for', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints } = jobWith(virtual, { post: ['-----d|'] });
      virtual.expectObservable(job, '^-!').toBe('s-', events);
      virtual.expectObservable(job, '---------^').toBe('---------(d|)', events);
      finallyLook(virtual, () => expect(types(checkpoints)).toStrictEqual(['intent', 'settled']));
    });
  });

  it('stops polling, and polls at once for who comes back', () => {
    inVirtualTime((virtual) => {
      const { job, sent, gets } = jobWith(virtual, { post: ['-a|'], get: ['----p|', '-p|', '-d|'] });
      virtual.expectObservable(job, '^----!').toBe('s(aq)', events);
      virtual.expectSubscriptions(gets[0]!.subscriptions).toBe('---^-!');
      virtual.expectObservable(job, '----------^').toBe('----------qp--(d|)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'status 3', 'status 10', 'status 13']));
    });
  });

  it('lets the mark of the end come through, and cancels nothing that has ended', () => {
    inVirtualTime((virtual) => {
      const checkpoint = ({ type }: CheckpointEvent<unknown>): ObservableInput<unknown> =>
        type === 'settled' ? virtual.cold('-----|') : [];
      const options = { ...virtualSpec(virtual).spec.options, onUnsubscribe: 'cancel' } as const;
      const { job, sent } = jobWith(virtual, { post: ['-a|'], get: ['d'] }, { checkpoint, options });
      virtual.expectObservable(job, '^-----!').toBe('s(aq)-', events);
      virtual.expectObservable(job, '------^').toBe('------q-(d|)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'status 3']));
    });
  });

  it('cancels at the service where the endpoint says so, trying again what may pass', () => {
    inVirtualTime((virtual) => {
      const options = { ...virtualSpec(virtual).spec.options, onUnsubscribe: 'cancel' } as const;
      const { job, sent, cancels } = jobWith(virtual, { post: ['-a|'], cancel: ['-x|', '-c|'] }, { options });
      virtual.expectObservable(job, '^----!').toBe('s(aq)', events);
      virtual.expectSubscriptions(cancels[0]!.subscriptions).toBe('-----^!');
      virtual.expectSubscriptions(cancels[1]!.subscriptions).toBe('----------^!');
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'status 3', 'cancel 5', 'cancel 10']));
    });
  });

  it('stands a service that cannot cancel', () => {
    inVirtualTime((virtual) => {
      const options = { ...virtualSpec(virtual).spec.options, onUnsubscribe: 'cancel' } as const;
      const { job, sent } = jobWith(virtual, { post: ['-a|'], cancel: ['-n|'] }, { options });
      virtual.expectObservable(job, '^--!').toBe('s(aq)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'cancel 3']));
    });
  });
});

describe('cancel()', () => {
  it('cancels a running job, whose subscribers see it end', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['-a|'], get: ['p', 'c'], cancel: ['c'] });
      virtual.scheduler.schedule(() => void job.cancel(), 4);
      virtual.scheduler.schedule(() => void job.cancel(), 5);
      const e = failure('job-cancelled', 'no', { jobId: 'j' });
      virtual.expectObservable(job.pipe(filter(({ type }) => type === 'settled'))).toBe('----(e|)', { e });
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'status 3', 'cancel 4']));
    });
  });

  it('cancels as soon as the id is known', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['----a|'], get: ['c'], cancel: ['c'] });
      virtual.scheduler.schedule(() => void job.cancel(), 2);
      const e = failure('job-cancelled', 'no');
      virtual.expectObservable(job.pipe(filter(({ type }) => type === 'settled'))).toBe('----(e|)', { e });
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'cancel 4']));
    });
  });

  it('ends a job that has sent nothing: unsubscribed, in the gate, with its intent on the way', () => {
    inVirtualTime((virtual) => {
      const message = 'POST /v2/e/run: cancelled before it was sent';
      const e = failure('job-cancelled', 'no', { message });
      const early = jobWith(virtual, { post: ['d'] });
      void early.job.cancel();
      virtual.expectObservable(early.job).toBe('(e|)', { e });
      const gate: Gate = { admit: () => NEVER, observe: () => undefined };
      const inGate = jobWith(virtual, { post: ['d'] }, {}, { gate });
      virtual.scheduler.schedule(() => void inGate.job.cancel(), 3);
      virtual.expectObservable(inGate.job).toBe('---(e|)', { e });
      const checkpoint = ({ type }: CheckpointEvent<unknown>) =>
        type === 'intent' ? virtual.cold('-----|') : [];
      const inIntent = jobWith(virtual, { post: ['d'] }, { checkpoint });
      virtual.scheduler.schedule(() => void inIntent.job.cancel(), 3);
      virtual.expectObservable(inIntent.job).toBe('-----(e|)', { e });
      finallyLook(virtual, () =>
        expect([early.sent, inGate.sent, inIntent.sent]).toStrictEqual([[], [], []]),
      );
    });
  });

  it('ends the job also for a subscriber that calls it at its first event, which others had before', () => {
    inVirtualTime((virtual) => {
      const w = { type: 'waiting', why: 'gate', forMs: 9 } as const;
      const e = failure('job-cancelled', 'no');
      const gate: Gate = { admit: () => NEVER.pipe(startWith(w)), observe: () => undefined };
      const { job } = jobWith(virtual, { post: ['d'] }, {}, { gate });
      virtual.expectObservable(job).toBe('w-(e|)', { w, e });
      const cancelling = job.pipe(tap(() => void job.cancel()));
      virtual.expectObservable(cancelling, '--^').toBe('--(we|)', { w, e });
    });
  });

  it('does nothing to a job that has ended', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['-d|'] });
      virtual.scheduler.schedule(() => void job.cancel(), 5);
      virtual.expectObservable(job).toBe('s(d|)', events);
      virtual.expectObservable(job, '-------^').toBe('-------(d|)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0']));
    });
  });
});

describe('a checkpoint that fails', () => {
  const failingAt = (kind: string) => (event: CheckpointEvent<unknown>) =>
    event.type === kind ? throwError(() => new Error('ENOSPC')) : EMPTY;

  it('keeps the POST from leaving, for good', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['-a|'] }, { checkpoint: failingAt('intent') });
      virtual.expectObservable(job).toBe('#', undefined, new Error('ENOSPC'));
      virtual.expectObservable(job, '---^').toBe('---#', undefined, new Error('ENOSPC'));
      virtual.expectObservable(job.pipe(retry(3)), '-----^').toBe('-----#', undefined, new Error('ENOSPC'));
      finallyLook(virtual, () => expect(sent).toStrictEqual([]));
    });
  });

  it('errors the job after the POST, whose id stays known', () => {
    inVirtualTime((virtual) => {
      const { job, sent } = jobWith(virtual, { post: ['-a|'] }, { checkpoint: failingAt('accepted') });
      virtual.expectObservable(job).toBe('s#', events, new Error('ENOSPC'));
      virtual.expectObservable(job, '---^').toBe('---(s#)', events, new Error('ENOSPC'));
      finallyLook(virtual, () => {
        expect(sent).toStrictEqual(['run 0']);
        expect(job.jobId).toBe('j');
      });
    });
  });

  it('errors the job also when it throws, and when nobody is there', () => {
    inVirtualTime((virtual) => {
      const checkpoint = (event: CheckpointEvent<unknown>) => {
        if (event.type === 'settled') throw new Error('EIO');
        return [];
      };
      const { job, sent } = jobWith(virtual, { post: ['---d|'] }, { checkpoint });
      virtual.expectObservable(job, '^-!').toBe('s-', events);
      virtual.expectObservable(job, '------^').toBe('------(s#)', events, new Error('EIO'));
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0']));
    });
  });
});

describe('a deadline', () => {
  const within = (virtual: Virtual, deadlineMs: number) => ({
    ...virtualSpec(virtual).spec.options,
    deadlineMs,
  });

  it('ends the polls of a job, which may still run [fault 13]', () => {
    inVirtualTime((virtual) => {
      const { job, gets, sent } = jobWith(
        virtual,
        { post: ['-a|'], get: ['--p|', '------d|'] },
        { options: within(virtual, 9) },
      );
      const message = 'GET /v2/e/status/j: no end within 9 ms; the job may still run';
      const e = failure('deadline', 'maybe', { jobId: 'j', message });
      virtual.expectObservable(job).toBe('s(aq)p---(e|)', { ...events, e });
      virtual.expectSubscriptions(gets[1]!.subscriptions).toBe('------^--!');
      finallyLook(virtual, () => expect(sent).toHaveLength(3));
    });
  });

  it('does not cut off a POST, and looks once at what came of it', () => {
    inVirtualTime((virtual) => {
      const options = within(virtual, 4);
      const { job, sent } = jobWith(virtual, { post: ['------a|'], get: ['-----d|'] }, { options });
      virtual.expectObservable(job).toBe('s-----(aq)-(d|)', events);
      finallyLook(virtual, () => expect(sent).toStrictEqual(['run 0', 'status 6']));
    });
  });

  it('keeps from leaving what has not left', () => {
    inVirtualTime((virtual) => {
      const gate: Gate = { admit: () => NEVER, observe: () => undefined };
      const options = within(virtual, 5);
      const { job, sent, checkpoints } = jobWith(virtual, { post: ['d'] }, { options }, { gate });
      const e = failure('refused', 'no', { message: 'POST /v2/e/run: not sent: its deadline passed' });
      virtual.expectObservable(job).toBe('-----(e|)', { e });
      finallyLook(virtual, () => {
        expect(sent).toStrictEqual([]);
        expect(types(checkpoints)).toStrictEqual(['settled']);
      });
    });
  });

  it('says why it was refused before', () => {
    inVirtualTime((virtual) => {
      const options = { ...tenMsBackoff(virtual), deadlineMs: 6 };
      const { job } = jobWith(virtual, { post: ['l'] }, { options });
      const w = { ...events.w, why: 'rate-limited', forMs: 10 };
      const e = failure('refused', 'no', { httpStatus: 429 });
      virtual.expectObservable(job).toBe('(sw)--(e|)', { ...events, w, e });
    });
  });
});

describe('a job that was bought before', () => {
  const known = { jobId: 'old' };
  const old = replied(200, { id: 'old', status: 'COMPLETED', output: 1 });
  const e = done({ status: 'completed', jobId: 'old', output: 1, costUsd: null });

  it('is polled at once and never submitted', () => {
    inVirtualTime((virtual) => {
      const { spec, checkpoints } = virtualSpec(virtual, { known });
      const sent: string[] = [];
      const job = createJob(
        spec,
        virtualContext(virtual.scheduler, ({ method, url }) => {
          sent.push(`${method} ${new URL(url).pathname}`);
          return virtual.cold('--r|', { r: old });
        }),
      );
      expect(job.jobId).toBe('old');
      virtual.expectObservable(job).toBe('--(e|)', { e });
      finallyLook(virtual, () => {
        expect(sent).toStrictEqual(['GET /v2/e/status/old']);
        expect(types(checkpoints)).toStrictEqual(['settled']);
      });
    });
  });

  it('is polled once even when its deadline has come', () => {
    inVirtualTime((virtual) => {
      const options = { ...virtualSpec(virtual).spec.options, deadlineMs: 0 };
      const { spec } = virtualSpec(virtual, { known, options });
      const reply = (r: WireReply) =>
        createJob(
          spec,
          virtualContext(virtual.scheduler, () => virtual.cold('--r|', { r })),
        );
      virtual.expectObservable(reply(old)).toBe('--(e|)', { e });
      const running = replied(200, { id: 'old', status: 'IN_PROGRESS' });
      const late = failure('deadline', 'maybe', { jobId: 'old' });
      virtual.expectObservable(reply(running)).toBe('--(e|)', { e: late });
      virtual.expectObservable(reply(replied(404, { error: 'gone' }))).toBe('--(e|)', { e: late });
      virtual.expectObservable(reply(replied(500, 'oops'))).toBe('--(e|)', { e: late });
    });
  });
});
