import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { lastValueFrom, toArray, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import type { Activity } from '../../../src/endpoints/client-state.js';
import type { RequestReport } from '../../../src/operators/requests/request-report.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { TransportError } from '../../../src/transport/transport-error.js';
import type { WireReply } from '../../../src/transport/transport.js';
import { clientOver } from '../../support/client-over.js';
import { replied } from '../../support/virtual-time.js';
import { throwError, of } from 'rxjs';

/** A client in virtual time that answers 429, then accepts, is unreachable for a poll, and completes. */
function refusedOnce(more: Parameters<typeof clientOver>[1] = {}) {
  const scheduler = new VirtualTimeScheduler(undefined, 60_000);
  scheduler.now = () => scheduler.frame;
  const replies: (WireReply | undefined)[] = [
    replied(429, { error: 'slow down' }, { 'x-request-id': 'req-1' }),
    replied(200, { id: 'j', status: 'IN_QUEUE' }, { 'x-request-id': 'req-2' }),
    undefined,
    replied(200, { id: 'j', status: 'COMPLETED', output: {} }, { 'x-request-id': 'canary-key-0123' }),
  ];
  const { client, sent } = clientOver(undefined, {
    scheduler,
    random: () => 1,
    transport: (request) => {
      sent.push(request);
      const reply = replies.shift();
      const fault = new TransportError('connect', 'ECONNREFUSED', 'no', false, 'refused');
      return reply === undefined ? throwError(() => fault) : of(reply);
    },
    ...more,
  });
  const buy = () => {
    const events: JobEvent<unknown>[] = [];
    client
      .queue('e', { poll: pollFixed(100) })
      .run({ a: 1 }, { key: 'row-7' })
      .subscribe((event) => events.push(event));
    scheduler.flush();
    return events;
  };
  return { client, sent, buy };
}

describe('what can be seen of a client', () => {
  it('events of a job and activity$: when, which attempt, the last status and its request id', () => {
    const { client, buy } = refusedOnce();
    const seen: Activity[] = [];
    client.activity$.subscribe((activity) => seen.push(activity));
    const events = buy();
    const known = (all: JobEvent<unknown>[]) =>
      all.map(({ type, at, attempt, httpStatus, requestId }) => [type, at, attempt, httpStatus, requestId]);
    expect(known(seen)).toStrictEqual(known(events));
    expect(seen.every(({ endpointId, key }) => endpointId === 'e' && key === 'row-7')).toBe(true);
    expect(known(events)).toStrictEqual([
      ['submitting', 0, 1, undefined, undefined],
      ['waiting', 0, 1, 429, 'req-1'],
      ['submitting', 500, 2, 429, 'req-1'],
      ['accepted', 500, 2, 200, 'req-2'],
      ['status', 500, 2, 200, 'req-2'],
      ['waiting', 600, 2, undefined, undefined],
      ['settled', 1_100, 2, 200, 'canary-key-0123'],
    ]);
  });

  it('requests$: every request with its end, and never the key', () => {
    const { client, buy } = refusedOnce();
    const seen: RequestReport[] = [];
    client.requests$.subscribe((report) => seen.push(report));
    buy();
    const common = { endpointId: 'e', host: 'api.example.test', key: 'row-7', durationMs: 0 };
    const post = { ...common, purpose: 'submit', method: 'POST', path: '/v2/e/run' };
    const poll = { ...common, purpose: 'poll', method: 'GET', path: '/v2/e/status/j', attempt: 2 };
    expect(seen).toStrictEqual([
      { ...post, at: 0, attempt: 1, status: 429, requestId: 'req-1' },
      { ...post, at: 500, attempt: 2, status: 200, requestId: 'req-2' },
      { ...poll, at: 600, status: 0, fault: { phase: 'connect', sent: 'no' } },
      { ...poll, at: 1_100, status: 200, requestId: expect.not.stringContaining('canary') as string },
    ]);
  });

  it('diagnostics_channel: the same as requests$ and activity$, also when nobody is subscribed to these', () => {
    const { buy } = refusedOnce();
    const published: [string, unknown][] = [];
    const note = (message: unknown, name: string | symbol) => void published.push([String(name), message]);
    const names = ['millrace:request', 'millrace:job'];
    for (const name of names) subscribe(name, note);
    try {
      buy();
    } finally {
      for (const name of names) unsubscribe(name, note);
    }
    expect(published.map(([name]) => name).filter((name) => name === 'millrace:request')).toHaveLength(4);
    expect(published.filter(([name]) => name === 'millrace:job').at(-1)).toMatchObject([
      'millrace:job',
      { type: 'settled', key: 'row-7', at: 1_100, attempt: 2, httpStatus: 200, requestId: 'canary-key-0123' },
    ]);
  });

  it('events of a route: the same, of a GET and of a POST', async () => {
    const { client } = clientOver(() => replied(200, {}, { 'x-request-id': 'req-9' }));
    const lb = client.routes('https://lb.example.test');
    for (const call of [lb.get('ping'), lb.post('ping', {})]) {
      const [first, last] = await lastValueFrom(call.pipe(toArray()));
      expect(first).toMatchObject({ type: 'submitting', attempt: 1, at: expect.any(Number) as number });
      expect(first).not.toHaveProperty('httpStatus');
      expect(last).toMatchObject({ type: 'settled', attempt: 1, httpStatus: 200, requestId: 'req-9' });
    }
  });

  it('calls that are no jobs are reported too, without an attempt', async () => {
    const { client } = clientOver(() => replied(200, {}));
    const seen: RequestReport[] = [];
    client.requests$.subscribe((report) => seen.push(report));
    await lastValueFrom(client.queue('e').health());
    await lastValueFrom(client.routes('https://lb.example.test').get('ping'));
    expect(seen.map(({ purpose, attempt, endpointId }) => [purpose, attempt, endpointId])).toStrictEqual([
      ['health', undefined, 'e'],
      ['route-get', 1, ''],
    ]);
  });
});

describe('traceparent', () => {
  const parent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

  it('goes with every request of its job, and the key goes where it went before', () => {
    const asked: unknown[] = [];
    const { sent, buy } = refusedOnce({
      traceparent: (call) => {
        asked.push(call.purpose);
        return call.key === 'row-7' ? parent : undefined;
      },
    });
    buy();
    expect(asked).toStrictEqual(['submit', 'submit', 'poll', 'poll']);
    for (const { headers } of sent)
      expect(headers).toMatchObject({ traceparent: parent, Authorization: 'Bearer canary-key-0123' });
  });

  it.each([
    ['is none', () => 'a\r\nX-Evil: 1'],
    ['is undefined', () => undefined],
    [
      'throws',
      () => {
        throw new Error('no span');
      },
    ],
  ])('that %s takes no purchase with it', async (name, traceparent) => {
    const { config } = await import('rxjs');
    const reported: unknown[] = [];
    config.onUnhandledError = (error) => reported.push(error);
    const { client, sent } = clientOver(undefined, { traceparent });
    expect(await client.queue('e').run({}).outcome()).toMatchObject({ status: 'completed' });
    expect(sent[0]?.headers).not.toHaveProperty('traceparent');
    await new Promise((resolve) => setTimeout(resolve));
    config.onUnhandledError = null;
    expect(reported).toHaveLength(name === 'throws' ? 1 : 0);
  });
});
