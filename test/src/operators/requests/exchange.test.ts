import { firstValueFrom, map, of, throwError, EMPTY, NEVER } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { exchange } from '../../../../src/operators/requests/exchange.js';
import type { Gate } from '../../../../src/policy/gates/gate.js';
import { TransportError } from '../../../../src/transport/transport-error.js';
import type { Transport, WireReply } from '../../../../src/transport/transport.js';
import { inVirtualTime, replied, requestTo, virtualContext, visit } from '../../../support/virtual-time.js';

const submit = { key: 'k', purpose: 'submit', request: requestTo('/v2/e/run') } as const;

/** What an exchange amounts to, and what the gate was told of it. */
const judge = (transport: Transport, asking: Parameters<typeof exchange>[0] = submit) => {
  const seen: { judged: unknown; reported: unknown[] } = { judged: undefined, reported: [] };
  inVirtualTime(({ scheduler }) => {
    const gate: Gate = { admit: () => EMPTY, observe: (answer) => seen.reported.push(answer) };
    exchange(asking, virtualContext(scheduler, transport, { gate })).subscribe(
      (judged) => (seen.judged = judged),
    );
  });
  return seen;
};

describe('exchange', () => {
  it('gives the reply and what it means, and tells the gate', () => {
    const { judged, reported } = judge(() => of(replied(200, { id: 'j', status: 'IN_QUEUE' })));
    expect(judged).toMatchObject({
      verdict: { verdict: 'answer' },
      reading: { body: 'job', job: { id: 'j' } },
    });
    expect(reported).toStrictEqual([{ ...visit(), status: 200 }]);
    const limited = judge(() => of(replied(429, 'slow down', { 'retry-after': '7' })));
    expect(limited.judged).toMatchObject({ verdict: { verdict: 'again', why: 'rate-limited' } });
    expect(limited.reported).toStrictEqual([{ ...visit(), status: 429, retryAfterMs: 7_000 }]);
    const broken = judge(() => of(replied(500, 'oops')));
    expect(broken.reported).toStrictEqual([{ ...visit(), status: 500 }]);
  });

  it('does not tell the gate of trouble when a function has answered with an error', () => {
    const failed = judge(() => of(replied(500, { id: 'j', status: 'FAILED', error: 'boom' })));
    expect(failed.judged).toMatchObject({ verdict: { verdict: 'final', code: 'job-failed' } });
    expect(failed.reported).toStrictEqual([{ ...visit(), status: 200 }]);
    const route = { key: 'k', purpose: 'route-post', request: requestTo('/echo') } as const;
    expect(judge(() => of(replied(500, { error: 'boom' })), route).reported).toStrictEqual([
      { ...visit(), status: 200 },
    ]);
  });

  it('judges a fault of the way', () => {
    const refused = new TransportError('connect', 'ECONNREFUSED', 'no', false, 'connection refused');
    const { judged, reported } = judge(() => throwError(() => refused));
    expect(judged).toMatchObject({ fault: refused, verdict: { verdict: 'again', why: 'not-sent' } });
    expect(reported).toStrictEqual([{ ...visit(), status: 0 }]);
  });

  it('takes a transport that breaks its own rules for a doubt', () => {
    const throwing = judge(() => {
      throw new Error('Bearer canary-key-0123 is not supported');
    });
    expect(throwing.judged).toMatchObject({
      verdict: { verdict: 'ambiguous' },
      fault: { code: 'transport', sent: 'maybe', message: 'Bearer [redacted] is not supported' },
    });
    const none = judge((() => undefined) as unknown as Transport);
    expect(none.judged).toMatchObject({ verdict: { verdict: 'ambiguous' }, fault: { sent: 'maybe' } });
    expect(none.reported).toStrictEqual([{ ...visit(), status: 0 }]);
    expect(judge(() => throwError(() => 'a text')).judged).toMatchObject({ fault: { message: 'a text' } });
    expect(judge(() => EMPTY).judged).toMatchObject({ verdict: { verdict: 'ambiguous' } });
    const { status, body } = replied(200, { id: 'j', status: 'IN_QUEUE' });
    const bare = judge(() => of({ status, body } as WireReply));
    expect(bare.judged).toMatchObject({ verdict: { verdict: 'ambiguous' }, fault: { sent: 'maybe' } });
    const message = 'the transport gave no reply with a status as a number, headers, and a body as text';
    expect(bare.judged).toMatchObject({ fault: { message } });
    for (const wrong of [
      undefined,
      new Response('{}'),
      { status: 200, headers: {}, body: Buffer.from('{}') },
      { status: 200, headers: null, body: '{}' },
    ])
      expect(judge((() => of(wrong)) as unknown as Transport).judged).toMatchObject({ fault: { message } });
    const twice = judge(() => of(replied(200, { id: 'j', status: 'IN_QUEUE' }), replied(500, 'x')));
    expect(twice.reported).toHaveLength(1);
  });

  it('takes a promise of a transport for its stream', async () => {
    const transport = () => Promise.resolve(replied(200, { id: 'j', status: 'IN_QUEUE' }));
    const context = virtualContext(new TestScheduler(() => undefined), transport as unknown as Transport);
    expect(await firstValueFrom(exchange(submit, context))).toMatchObject({ verdict: { verdict: 'answer' } });
  });

  it('is over with the first reply, and leaves a transport that goes on', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const reply = cold('--r-r', { r: replied(200, { id: 'j', status: 'IN_QUEUE' }) });
      const judged = exchange(
        submit,
        virtualContext(scheduler, () => reply),
      ).pipe(map(({ verdict }) => verdict.verdict));
      expectObservable(judged).toBe('--(v|)', { v: 'answer' });
      expectSubscriptions(reply.subscriptions).toBe('^-!');
    });
  });

  it('aborts the request when it is unsubscribed', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const reply = cold('---r|', { r: replied(200, {}) });
      expectObservable(
        exchange(
          submit,
          virtualContext(scheduler, () => reply),
        ),
        '^-!',
      ).toBe('--');
      expectSubscriptions(reply.subscriptions).toBe('^-!');
      expectObservable(
        exchange(
          submit,
          virtualContext(scheduler, () => NEVER),
        ),
      ).toBe('-');
    });
  });
});
