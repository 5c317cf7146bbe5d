import { identity, of, take, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CheckpointEvent } from '../../../../src/contract/outcome.js';
import { readRoute, type RouteQuery } from '../../../../src/operators/purchase/read-route.js';
import { createRetryQuota } from '../../../../src/policy/retry-quota.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import { virtualSpec } from '../../../support/virtual-spec.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualContext,
  type Virtual,
} from '../../../support/virtual-time.js';

const replies = {
  v: replied(200, { answer: 42, cost: 0.5 }),
  z: replied(200, 'null'),
  x: replied(502, 'bad gateway'),
  h: replied(200, '<html>'),
  e: replied(500, { error: 'boom', detail: 'line 1' }),
  b: replied(422, { error: 'no text' }),
  n: replied(404, { error: 'no such route' }),
  k: replied(403, 'forbidden'),
  c: replied(503, { error: 'no workers available' }),
};
const S = { type: 'submitting', sync: true } as const;
const w = { type: 'waiting', why: 'backoff', forMs: 4 } as const;
const settled = (outcome: object) => ({ type: 'settled', outcome: expect.objectContaining(outcome) });
const V = {
  type: 'settled',
  outcome: { status: 'completed', jobId: '', output: { answer: 42, cost: 0.5 }, costUsd: 0.5 },
};

const reading = (virtual: Virtual, lines: string[], overrides: Partial<RouteQuery<unknown>> = {}) => {
  const { spec, checkpoints, reported } = virtualSpec(virtual);
  const streams = lines.map((line) =>
    virtual.cold(line, replies, new TransportError('reset', 'ECONNRESET', 'maybe', false, 'reset')),
  );
  let asked = 0;
  const quota = createRetryQuota(50);
  const context = virtualContext(virtual.scheduler, () => streams[Math.min(asked++, streams.length - 1)]!, {
    quota,
  });
  const query = { ...spec, untilAborted: identity, request: requestTo('/info', 'GET'), ...overrides };
  return { job: readRoute(query, context), checkpoints, reported, streams, quota };
};
const types = (checkpoints: CheckpointEvent<unknown>[]) => checkpoints.map(({ type }) => type);

describe('readRoute', () => {
  it('gives the answer of the route in the shape of a job', () => {
    inVirtualTime((virtual) => {
      const { job, checkpoints, reported } = reading(virtual, ['--v|']);
      virtual.expectObservable(job).toBe('S-(V|)', { S, V });
      virtual.flush();
      expect(types(checkpoints)).toStrictEqual(['intent', 'settled']);
      expect(reported).toStrictEqual([S, V]);
      expect([job.key, job.jobId, job.statusCalls]).toStrictEqual(['k', '', 0]);
      expect(() => job.cancel()).not.toThrow();
    });
  });

  it('is cold: each subscription asks, and unsubscribing aborts', () => {
    inVirtualTime((virtual) => {
      const { job, streams } = reading(virtual, ['--v|']);
      virtual.expectObservable(job, '^!').toBe('S', { S });
      virtual.expectObservable(job, '---^').toBe('---S-(V|)', { S, V });
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe(['^!', '---^-!']);
      virtual.expectObservable(job.pipe(take(1))).toBe('(S|)', { S });
    });
  });

  it('takes null for an answer', () => {
    inVirtualTime((virtual) => {
      const e = settled({ status: 'completed', output: null, costUsd: null });
      virtual.expectObservable(reading(virtual, ['z']).job).toBe('(Se|)', { S, e });
    });
  });

  it('asks again what may pass, and gives its tokens back when it did', () => {
    inVirtualTime((virtual) => {
      const { job, quota } = reading(virtual, ['x', '#', 'v']);
      virtual.expectObservable(job).toBe('(Sw)w---(V|)', { S, w, V });
      virtual.flush();
      expect(quota.tokens).toBe(50);
    });
  });

  it('waits 5 to 10 s for a first worker', () => {
    inVirtualTime((virtual) => {
      const options = { ...virtualSpec(virtual).spec.options, deadlineMs: 60_000 };
      const { job } = reading(virtual, ['c', 'v'], { options });
      virtual.expectObservable(job).toBe('(SW) 9996ms (V|)', { S, W: { ...w, forMs: 10_000 }, V });
    });
  });

  it.each([
    ['x', 'transport'],
    ['#', 'transport'],
    ['h', 'malformed-reply'],
  ])('ends on %s time and again as %s, not paid', (reply, code) => {
    inVirtualTime((virtual) => {
      const { job, checkpoints } = reading(virtual, [reply]);
      virtual
        .expectObservable(job)
        .toBe('(Sw)w---(e|)', { S, w, e: settled({ status: 'failed', code, paid: 'no' }) });
      virtual.flush();
      expect(types(checkpoints)).toStrictEqual(['intent', 'settled']);
    });
  });

  it.each([
    ['e', 'route-failed', ['intent', 'settled']],
    ['b', 'route-failed', ['intent', 'settled']],
    ['n', 'route-not-found', ['intent', 'settled']],
    ['k', 'unauthorized', ['intent', 'refused', 'settled']],
  ])('ends on %s at once as %s', (reply, code, expected) => {
    inVirtualTime((virtual) => {
      const { job, checkpoints } = reading(virtual, [`-${reply}|`]);
      virtual.expectObservable(job).toBe('S(e|)', { S, e: settled({ code, paid: 'no' }) });
      virtual.flush();
      expect(types(checkpoints)).toStrictEqual(expected);
    });
  });

  it('ends as unreachable where no connection can be made', () => {
    inVirtualTime((virtual) => {
      const fault = new TransportError('connect', 'ECONNREFUSED', 'no', true, 'refused');
      const { spec } = virtualSpec(virtual);
      const query = { ...spec, request: requestTo('/info', 'GET') };
      const job = readRoute(
        query,
        virtualContext(virtual.scheduler, () => throwError(() => fault)),
      );
      const e = settled({ code: 'unreachable', message: 'refused; tries used up' });
      virtual.expectObservable(job).toBe('(Sw)w---(e|)', { S, w, e });
    });
  });

  it('stops asking when the quota is empty', () => {
    inVirtualTime((virtual) => {
      const { spec } = virtualSpec(virtual);
      const quota = createRetryQuota(1);
      const query = { ...spec, request: requestTo('/info', 'GET') };
      const job = readRoute(
        query,
        virtualContext(virtual.scheduler, () => of(replies.x), { quota }),
      );
      virtual.expectObservable(job).toBe('(Se|)', { S, e: settled({ code: 'transport' }) });
    });
  });

  it('ends at its deadline, and aborts the request', () => {
    inVirtualTime((virtual) => {
      const options = { ...virtualSpec(virtual).spec.options, deadlineMs: 3 };
      const { job, streams } = reading(virtual, ['------v|'], { options });
      const e = settled({ code: 'transport', paid: 'no', message: 'GET /info: no answer within 3 ms' });
      virtual.expectObservable(job).toBe('S--(e|)', { S, e });
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe('^--!');
    });
  });

  it('lets an outcome that is being made durable end, past its deadline', () => {
    inVirtualTime((virtual) => {
      const checkpoint = (event: CheckpointEvent<unknown>) =>
        event.type === 'settled' ? virtual.cold('------|') : of();
      const { job } = reading(virtual, ['--v|'], {
        checkpoint,
        options: { ...virtualSpec(virtual).spec.options, deadlineMs: 5 },
      });
      virtual.expectObservable(job).toBe('S-------(V|)', { S, V });
    });
  });

  it('errors with a checkpoint that fails, before it asks', () => {
    inVirtualTime((virtual) => {
      const checkpoint = () => throwError(() => new Error('ENOSPC'));
      const { job, streams } = reading(virtual, ['v'], { checkpoint });
      virtual.expectObservable(job).toBe('#', undefined, new Error('ENOSPC'));
      virtual.expectSubscriptions(streams[0]!.subscriptions).toBe([]);
    });
  });
});
