import nock from 'nock';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../src/operators/job.js';
import type { Client } from '../../../src/endpoints/client-on.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import { tap, type Tapped } from '../../support/wire-tap.js';

const host = 'https://api.example.test';
const lbHost = 'https://lb.example.test';
const apiKey = 'canary-key-0123';
const client = (): Client => createClient({ apiKey, baseUrl: host, random: () => 0 });
const queue = () => client().queue('my-fn', { poll: pollFixed(1) });
const edit = () => client().imageEdit('image-edit');
const routes = () => client().routes(`${lbHost}/`);
const completed =
  '{"id":"j-1","status":"COMPLETED","output":{"image_url":"https://x.test/1.png","cost":0.0875}}';

const always = {
  accept: 'application/json',
  'accept-encoding': 'gzip, deflate, br',
  authorization: 'Bearer canary-key-0123',
};
const withBody = { ...always, 'content-type': 'application/json' };

/** Without what the connection adds. */
function sentBy({ method, path, headers, body }: Tapped) {
  const { host: to, connection, 'user-agent': agent, 'content-length': length, ...others } = headers;
  expect(connection).toBe('close');
  expect(agent).toMatch(/^millrace\/\d/);
  if (method === 'POST') expect(Number(length)).toBe(Buffer.byteLength(body));
  else expect(length).toBeUndefined();
  return { to, method, path, headers: others, body };
}

beforeEach(() => nock.disableNetConnect());
afterEach(() => {
  nock.cleanAll();
  nock.enableNetConnect();
});

describe('every call goes on the wire as the specification says', () => {
  it('POST /v2/<endpoint_id>/run', async () => {
    const sent = tap(host, 200, completed);
    await firstValueFrom(
      queue()
        .run({ text: 'häß "x"', list: [1, null], nested: { a: true } })
        .pipe(toOutcome()),
    );
    expect(sent.map(sentBy)).toStrictEqual([
      {
        to: 'api.example.test',
        method: 'POST',
        path: '/v2/my-fn/run',
        headers: withBody,
        body: '{"input":{"text":"häß \\"x\\"","list":[1,null],"nested":{"a":true}}}',
      },
    ]);
  });

  it('GET /v2/<endpoint_id>/status/<job_id>, the id encoded', async () => {
    const sent = tap(host, 200, '{"id":"a/b c?d#ü","status":"COMPLETED"}');
    await firstValueFrom(queue().attach('a/b c?d#ü').pipe(toOutcome()));
    const again = tap(host, 200, '{"id":"a/b c?d#ü","status":"COMPLETED"}');
    await firstValueFrom(queue().status('a/b c?d#ü'));
    const call = {
      to: 'api.example.test',
      method: 'GET',
      path: '/v2/my-fn/status/a%2Fb%20c%3Fd%23%C3%BC',
      headers: always,
      body: '',
    };
    expect([...sent, ...again].map(sentBy)).toStrictEqual([call, call]);
  });

  it('POST /v2/<endpoint_id>/runsync', async () => {
    const sent = tap(host, 200, completed);
    await firstValueFrom(queue().runSync({ text: 'x' }).pipe(toOutcome()));
    expect(sent.map(sentBy)).toStrictEqual([
      {
        to: 'api.example.test',
        method: 'POST',
        path: '/v2/my-fn/runsync',
        headers: withBody,
        body: '{"input":{"text":"x"}}',
      },
    ]);
  });

  it('POST /v2/<image_edit_endpoint_id>/runsync, with what was given and no more', async () => {
    const sent = tap(host, 200, completed);
    await firstValueFrom(
      edit()
        .runSync({
          images: ['https://x.test/a.png'],
          prompt: 'make it blue',
          resolution: '2K' as '2k',
          aspect_ratio: '16:9',
        })
        .pipe(toOutcome()),
    );
    expect(sent.map(sentBy)).toStrictEqual([
      {
        to: 'api.example.test',
        method: 'POST',
        path: '/v2/image-edit/runsync',
        headers: withBody,
        body: '{"input":{"images":["https://x.test/a.png"],"prompt":"make it blue","resolution":"2k","aspect_ratio":"16:9"}}',
      },
    ]);
  });

  it('POST {lb_base_url}/<route_path>, the body as it is', async () => {
    const sent = tap(lbHost, 200, '{"ok":true}');
    await firstValueFrom(routes().post('/v1/generate', { text: 'x', n: 2 }).pipe(toOutcome()));
    const plain = tap(lbHost, 200, '{"ok":true}');
    await firstValueFrom(routes().post('count', 'just text').pipe(toOutcome()));
    expect([...sent, ...plain].map(sentBy)).toStrictEqual([
      {
        to: 'lb.example.test',
        method: 'POST',
        path: '/v1/generate',
        headers: withBody,
        body: '{"text":"x","n":2}',
      },
      { to: 'lb.example.test', method: 'POST', path: '/count', headers: withBody, body: '"just text"' },
    ]);
  });

  it('GET {lb_base_url}/<route_path>, without a body', async () => {
    const sent = tap(lbHost, 200, '{"ok":true}');
    await firstValueFrom(routes().get('info?lang=de').pipe(toOutcome()));
    expect(sent.map(sentBy)).toStrictEqual([
      { to: 'lb.example.test', method: 'GET', path: '/info?lang=de', headers: always, body: '' },
    ]);
  });

  it('POST /v2/<endpoint_id>/cancel/<job_id> and GET /v2/<endpoint_id>/health, which live services have', async () => {
    const cancelled = tap(host, 200, '{"id":"j/1","status":"CANCELLED"}');
    expect(await firstValueFrom(queue().cancel('j/1'))).toStrictEqual({ id: 'j/1', status: 'CANCELLED' });
    const healthy = tap(host, 200, '{"jobs":{"inQueue":2},"workers":{"idle":"?"}}');
    expect(await firstValueFrom(queue().health())).toEqual({ jobs: { inQueue: 2 }, workers: {} });
    expect([...cancelled, ...healthy].map(sentBy)).toStrictEqual([
      { to: 'api.example.test', method: 'POST', path: '/v2/my-fn/cancel/j%2F1', headers: always, body: '' },
      { to: 'api.example.test', method: 'GET', path: '/v2/my-fn/health', headers: always, body: '' },
    ]);
  });

  it('POST /retry, GET /stream, GET /status-sync and POST /purge-queue, which live services have', async () => {
    const retried = tap(host, 200, '{"id":"j/1","status":"COMPLETED"}');
    await firstValueFrom(queue().retry('j/1').pipe(toOutcome()));
    const streamed = tap(host, 200, '{"status":"IN_PROGRESS","stream":[{"output":"a"}]}');
    expect(await firstValueFrom(queue().stream('j/1'))).toBe('a');
    const waited = tap(host, 200, '{"id":"j/1","status":"COMPLETED"}');
    await firstValueFrom(queue().status('j/1', { waitMs: 30_000 }));
    const purged = tap(host, 200, '{"removed":3,"status":"completed"}');
    expect(await firstValueFrom(queue().purgeQueue())).toEqual({ removed: 3, status: 'completed' });
    const call = { to: 'api.example.test', headers: always, body: '' };
    expect([...retried, ...streamed, ...waited, ...purged].map(sentBy)).toStrictEqual([
      { ...call, method: 'POST', path: '/v2/my-fn/retry/j%2F1' },
      { ...call, method: 'GET', path: '/v2/my-fn/stream/j%2F1' },
      { ...call, method: 'GET', path: '/v2/my-fn/status-sync/j%2F1?wait=30000' },
      { ...call, method: 'POST', path: '/v2/my-fn/purge-queue' },
    ]);
  });

  it('with what live services take beside the input, when it is asked for', async () => {
    const policy = { executionTimeoutMs: 60_000, ttlMs: 7_200_000, lowPriority: true };
    const sent = tap(host, 200, completed);
    const options = { policy, webhook: 'https://hooks.example/done', waitMs: 300_000 };
    await firstValueFrom(queue().runSync({ text: 'x' }, options).pipe(toOutcome()));
    expect(sent.map(sentBy)).toStrictEqual([
      {
        to: 'api.example.test',
        method: 'POST',
        path: '/v2/my-fn/runsync?wait=300000',
        headers: withBody,
        body: '{"input":{"text":"x"},"policy":{"executionTimeout":60000,"ttl":7200000,"lowPriority":true},"webhook":"https://hooks.example/done"}',
      },
    ]);
  });

  it('without a key, no authorization at all', async () => {
    const sent = tap(host, 401, '{"error":"unauthorized"}');
    await firstValueFrom(createClient({ baseUrl: host }).queue('e').runSync({}).pipe(toOutcome()));
    expect(sent[0]!.headers).not.toHaveProperty('authorization');
  });
});

describe('every reply of the specification ends as it should', () => {
  const outcomeOf = (job: Job<unknown>) => firstValueFrom(job.pipe(toOutcome()));

  it('200 with an output', async () => {
    const picture = { image_url: 'https://x.test/1.png', cost: 0.0875 };
    const times = { delayTime: 12, executionTime: 3_400 };
    tap(
      host,
      200,
      JSON.stringify({ id: 'sync-1-e2', status: 'COMPLETED', output: picture, workerId: 'w', ...times }),
    );
    const input = { images: ['https://x.test/a.png'], prompt: 'x' };
    expect(await firstValueFrom(edit().runSync(input).pipe(toOutcome()))).toStrictEqual({
      status: 'completed',
      jobId: 'sync-1-e2',
      output: picture,
      costUsd: 0.0875,
      delayTimeMs: 12,
      executionTimeMs: 3_400,
    });
    tap(lbHost, 200, '{"image":"abc"}');
    expect(await outcomeOf(routes().post('generate', {}))).toStrictEqual({
      status: 'completed',
      jobId: '',
      output: { image: 'abc' },
      costUsd: null,
    });
  });

  it('a FAILED job, with HTTP 200, 400 and 500', async () => {
    const body = '{"id":"j","status":"FAILED","error":"division by zero"}';
    const failed = {
      status: 'failed',
      paid: 'no',
      jobId: 'j',
      message: 'POST /v2/my-fn/runsync: FAILED: division by zero',
    };
    tap(host, 200, body);
    expect(await outcomeOf(queue().runSync({}))).toStrictEqual({ ...failed, code: 'job-failed' });
    tap(host, 400, body);
    expect(await outcomeOf(queue().runSync({}))).toStrictEqual({
      ...failed,
      code: 'rejected',
      httpStatus: 400,
    });
    tap(host, 500, body);
    expect(await outcomeOf(queue().runSync({}))).toStrictEqual({
      ...failed,
      code: 'job-failed',
      httpStatus: 500,
    });
  });

  it.each([
    [400, '{"error":"input is required"}', 'rejected', 'no'],
    [401, '{"error":"unauthorized"}', 'unauthorized', 'no'],
    [404, '{"error":"no such endpoint"}', 'endpoint-not-found', 'no'],
    [500, '{"error":"internal server error"}', 'unknown', 'maybe'],
    [200, '<html>captive portal</html>', 'unknown', 'maybe'],
    [200, '', 'unknown', 'maybe'],
    [302, '', 'insecure', 'no'],
  ])('HTTP %i %s on submission is %s, paid %s', async (status, body, code, paid) => {
    tap(host, status, body, { location: 'https://evil.test/' });
    const outcome = await outcomeOf(queue().run({}));
    expect(outcome).toMatchObject({ status: 'failed', code, paid, httpStatus: status });
    expect(outcome).toHaveProperty('message', expect.stringContaining(`POST /v2/my-fn/run: HTTP ${status}`));
  });

  it.each([
    [400, '{"error":"bad text","detail":"text is empty"}', 'route-failed', 'no'],
    [400, 'Bad Request', 'rejected', 'no'],
    [401, '{"error":"unauthorized"}', 'unauthorized', 'no'],
    [404, '{"error":"not found"}', 'route-not-found', 'no'],
    [500, '{"error":"boom","detail":"line 1"}', 'route-failed', 'no'],
    [500, 'Internal Server Error', 'unknown', 'maybe'],
    [200, '<html>', 'unknown', 'maybe'],
  ])('HTTP %i %s on a POST route is %s, paid %s', async (status, body, code, paid) => {
    tap(lbHost, status, body);
    const outcome = await outcomeOf(routes().post('generate', {}));
    expect(outcome).toMatchObject({ status: 'failed', code, paid, httpStatus: status });
    if (body.includes('detail'))
      expect(outcome).toHaveProperty('detail', (JSON.parse(body) as { detail: string }).detail);
  });

  it('masks a key that the service echoes', async () => {
    tap(host, 400, `{"error":"bad header: Bearer ${apiKey}"}`);
    expect(JSON.stringify(await outcomeOf(queue().run({})))).not.toContain(apiKey);
    tap(lbHost, 200, `{"headers":{"authorization":"Bearer ${apiKey}"}}`);
    expect(JSON.stringify(await outcomeOf(routes().get('echo')))).not.toContain(apiKey);
  });
});
