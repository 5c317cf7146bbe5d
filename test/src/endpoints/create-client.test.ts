import { firstValueFrom, lastValueFrom, of, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Activity } from '../../../src/endpoints/client-state.js';
import { createClient, type ClientOptions } from '../../../src/endpoints/create-client.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { fixed } from '../../../src/policy/fixed.js';
import { openGate } from '../../../src/policy/open-gate.js';
import type { PollJob, PollSchedule } from '../../../src/policy/poll-schedule.js';
import type { WireReply, WireRequest } from '../../../src/transport/transport.js';
import { inVirtualTime, replied } from '../../support/virtual-time.js';

const baseUrl = 'https://api.example.test/';

/** A client whose transport answers by the path, and what it sent. */
const clientOver = (answer: (path: string) => WireReply, more: ClientOptions = {}) => {
  const sent: WireRequest[] = [];
  const client = createClient({
    baseUrl,
    apiKey: 'canary-key-0123',
    transport: (request) => {
      sent.push(request);
      return of(answer(new URL(request.url).pathname));
    },
    ...more,
  });
  return { client, sent };
};
const finished = () => replied(200, { id: 'j', status: 'COMPLETED', output: { text: 'hello' } });

describe('createClient', () => {
  it('sends nothing by itself', () => {
    const { client, sent } = clientOver(finished);
    client.queue('e').run({});
    client.queue('e').status('j');
    client.routes('https://lb.example.test').get('info');
    expect(sent).toStrictEqual([]);
  });

  it('makes do with its defaults', () => {
    expect(() => createClient()).not.toThrow();
    expect(() => createClient().queue('e')).toThrow('baseUrl: is missing');
  });

  it('refuses a key and a base URL that cannot be used', () => {
    expect(() => createClient({ apiKey: '' })).toThrow('apiKey: is empty');
    const error: unknown = (() => {
      try {
        return createClient({ apiKey: 'canary key' });
      } catch (caught) {
        return caught;
      }
    })();
    expect(error).toMatchObject({ code: 'invalid-option' });
    expect(String(error)).not.toContain('canary');
    expect(() => createClient({ baseUrl: 'https://api.example.test/v2' })).toThrow('baseUrl: ends in /v2');
  });

  it('tells activity$ of every event of every job, also of those that nobody watches', async () => {
    const { client } = clientOver((path) =>
      path.endsWith('/run') ? replied(200, { id: 'j', status: 'IN_QUEUE' }) : finished(),
    );
    const seen: Activity[] = [];
    client.activity$.subscribe((activity) => seen.push(activity));
    const job = client.queue('e', { poll: fixed(1) }).run({}, { key: 'row-7' });
    await firstValueFrom(job.pipe(toOutcome()));
    await lastValueFrom(client.routes('https://lb.example.test').post('x', {}));
    expect(seen.map(({ type, endpointId, key }) => `${key} ${endpointId} ${type}`)).toStrictEqual([
      'row-7 e submitting',
      'row-7 e accepted',
      'row-7 e status',
      'row-7 e settled',
      'route#1  submitting',
      'route#1  settled',
    ]);
  });

  it('gives activity$ no way to be ended from outside', () => {
    expect(createClient().activity$).not.toHaveProperty('complete');
  });

  it('names jobs apart, and shares nothing with another client', () => {
    const one = clientOver(finished).client;
    const other = clientOver(finished).client;
    const keys = [
      one.queue('a').run({}),
      one.queue('a').run({}),
      one.queue('b').run({}),
      other.queue('a').run({}),
    ];
    expect(keys.map(({ key }) => key)).toStrictEqual(['a#1', 'a#2', 'b#3', 'a#1']);
  });
});

describe('a queue endpoint', () => {
  it.each(['', '../x', 'a/b', 'https://evil.test', '.', 'a?b', 'a#b', '@evil.test', 'a\nb'])(
    'refuses the id %j',
    (id) => {
      const { client } = clientOver(finished);
      expect(() => client.queue(id)).toThrow(expect.objectContaining({ code: 'invalid-option' }));
      expect(() => client.imageEdit(id)).toThrow('endpoint id');
    },
  );

  it('refuses wrong options and ids by name', () => {
    const { client } = clientOver(finished);
    expect(() => client.queue('e', { executionTimeoutMs: 0 })).toThrow('executionTimeoutMs');
    expect(() => client.queue('e', { retry: { maxRetries: -1 } })).toThrow('retry.maxRetries');
    expect(() => client.queue('e').run({}, { deadlineMs: Number.NaN })).toThrow('deadlineMs');
    expect(() => client.queue('e').attach('')).toThrow('jobId');
    expect(() => client.queue('e').status('')).toThrow('jobId');
    expect(() => client.queue('e').cancel('')).toThrow('jobId');
  });

  it('gives /runsync the client timeout of spec 8 unless another is set, and /run none of it', async () => {
    const { client, sent } = clientOver(finished);
    await lastValueFrom(client.queue('e').runSync({}));
    await lastValueFrom(client.queue('e', { executionTimeoutMs: 300_000 }).runSync({}));
    await lastValueFrom(client.queue('e', { executionTimeoutMs: 300_000 }).run({}));
    expect(sent.map(({ timeouts }) => timeouts.responseMs)).toStrictEqual([60_000, 300_000, 60_000]);
    expect(sent.map(({ paid }) => paid)).toStrictEqual([true, true, true]);
  });

  it('checks an input before anything is sent, and sends what the schema gives', async () => {
    const { client, sent } = clientOver(finished);
    const endpoint = client.queue('e', { input: z.object({ n: z.coerce.number() }) });
    await expect(lastValueFrom(endpoint.run({ n: 'x' }))).rejects.toMatchObject({
      name: 'InvalidInputError',
    });
    expect(await firstValueFrom(endpoint.run({ n: 'x' }).pipe(toOutcome()))).toMatchObject({
      code: 'invalid-row',
    });
    expect(sent).toHaveLength(0);
    await lastValueFrom(endpoint.run({ n: '7' }));
    expect(sent[0]!.body).toBe('{"input":{"n":7}}');
  });

  it('refuses an input that is no object', async () => {
    const { client, sent } = clientOver(finished);
    for (const input of [null, 'text', [1], undefined])
      await expect(lastValueFrom(client.queue('e').run(input))).rejects.toMatchObject({
        code: 'invalid-input',
      });
    expect(sent).toHaveLength(0);
  });

  it('gives the output as its schema gives it, else output-mismatch', async () => {
    const { client } = clientOver(finished);
    const good = client.queue('e', { output: z.object({ text: z.string() }) }).runSync({});
    expect(await firstValueFrom(good.pipe(toOutcome()))).toMatchObject({ output: { text: 'hello' } });
    const bad = client.queue('e', { output: z.object({ text: z.number() }) }).runSync({});
    expect(await firstValueFrom(bad.pipe(toOutcome()))).toMatchObject({
      code: 'output-mismatch',
      paid: 'yes',
    });
  });

  it('asks for one status, one cancellation, one health at a time, cold', async () => {
    const { client, sent } = clientOver((path) =>
      path.endsWith('/health')
        ? replied(200, { jobs: { inQueue: 1 } })
        : replied(500, { status: 'FAILED', error: 'boom' }),
    );
    const endpoint = client.queue('e');
    const status = endpoint.status('j');
    expect(await lastValueFrom(status.pipe(toArray()))).toMatchObject([{ id: 'j', status: 'FAILED' }]);
    await lastValueFrom(status);
    expect(await lastValueFrom(endpoint.cancel('j'))).toMatchObject({ id: 'j' });
    expect(await lastValueFrom(endpoint.health())).toMatchObject({ jobs: { inQueue: 1 } });
    expect(sent.map(({ method }) => method)).toStrictEqual(['GET', 'GET', 'POST', 'GET']);
    expect(sent.map(({ paid }) => paid)).toStrictEqual([false, false, false, false]);
  });

  it('errors where a status has no answer', async () => {
    const { client } = clientOver(() => replied(404, { error: 'no such job' }));
    await expect(lastValueFrom(client.queue('e').status('j'))).rejects.toMatchObject({
      name: 'NotFoundError',
      message: 'GET /v2/e/status/j: HTTP 404: no such job',
    });
  });

  it('tells the poll schedule whose job it is, and when it was submitted', () => {
    inVirtualTime(({ scheduler, cold, flush }) => {
      const jobs: PollJob[] = [];
      const poll: PollSchedule = {
        pollTimes: (job) => {
          jobs.push(job);
          return cold('-') as never;
        },
        observe: () => undefined,
      };
      const gate = openGate({ scheduler });
      const { client } = clientOver(() => replied(200, { id: 'j', status: 'IN_QUEUE' }), { scheduler, gate });
      const input = { images: ['https://x.test/a.png'], prompt: 'x' };
      const edit = client.imageEdit('edit', { poll });
      const subscriptions = [
        edit.run(input, { key: 'a' }),
        edit.runSync({ ...input, resolution: '4k' }, { key: 'b' }),
        client.queue('e', { poll }).run({}, { key: 'c', variant: 'large' }),
        client.queue('e', { poll }).attach('old', { key: 'd', submittedAt: -5_000 }),
        edit.attach('old', { key: 'e' }),
      ].map((job) => job.subscribe());
      flush();
      for (const subscription of subscriptions) subscription.unsubscribe();
      expect(
        jobs.map(({ key, endpoint, variant, submittedAt }) => [key, endpoint, variant, submittedAt]),
      ).toStrictEqual([
        ['a', 'edit', '1k', 0],
        ['b', 'edit', '4k', 0],
        ['c', 'e', 'large', 0],
        ['d', 'e', undefined, -5_000],
        ['e', 'edit', undefined, 0],
      ]);
    });
  });
});

describe('an image-edit endpoint', () => {
  it('has all calls of a queue endpoint, and checks strictly before anything is sent', async () => {
    const { client, sent } = clientOver((path) => (path.endsWith('/health') ? replied(200, {}) : finished()));
    const edit = client.imageEdit('edit');
    expect(edit.id).toBe('edit');
    expect(await lastValueFrom(edit.status('j'))).toMatchObject({ status: 'COMPLETED' });
    expect(await lastValueFrom(edit.cancel('j'))).toMatchObject({ id: 'j' });
    expect(await lastValueFrom(edit.health())).toBeTypeOf('object');
    const before = sent.length;
    const input = { images: ['https://x.test/a.png'], prompt: 'x' };
    for (const wrong of [
      { images: [] },
      { prompt: ' ' },
      { aspect_ratio: '16x9' },
      { resolution: '8k' },
      { surprise: 1 },
    ])
      await expect(lastValueFrom(edit.runSync({ ...input, ...(wrong as object) }))).rejects.toMatchObject({
        code: 'invalid-input',
      });
    expect(sent).toHaveLength(before);
  });

  it('reads its output tolerantly', async () => {
    const { client } = clientOver(() =>
      replied(200, { id: 'j', status: 'COMPLETED', output: { result: 'u', cost: 'NaN', x: 1 } }),
    );
    const job = client.imageEdit('edit').runSync({ images: ['https://x.test/a.png'], prompt: 'x' });
    expect(await firstValueFrom(job.pipe(toOutcome()))).toMatchObject({
      output: { result: 'u', x: 1 },
      costUsd: null,
    });
  });
});

describe('a load-balanced endpoint', () => {
  const routes = (answer: (path: string) => WireReply = () => replied(200, { ok: true })) => {
    const { client, sent } = clientOver(answer);
    return { lb: client.routes('https://lb.example.test/base/'), client, sent };
  };

  it.each([
    '',
    '/',
    '//evil.test/x',
    'https://evil.test/x',
    '../x',
    'a/../../x',
    'a\\b',
    'a%2e%2e/..',
    'a b',
    'x#y',
  ])('refuses the route %j, which could lead the key elsewhere', (route) => {
    const { lb, sent } = routes();
    expect(() => lb.get(route)).toThrow(expect.objectContaining({ code: 'invalid-option' }));
    expect(() => lb.post(route, {})).toThrow('route');
    expect(sent).toHaveLength(0);
  });

  it('stays below its base URL', async () => {
    const { lb, sent } = routes();
    await lastValueFrom(lb.get('/info'));
    await lastValueFrom(lb.post('/a/b?c=d', { x: 1 }));
    expect(sent.map(({ url }) => url)).toStrictEqual([
      'https://lb.example.test/base/info',
      'https://lb.example.test/base/a/b?c=d',
    ]);
    expect(sent.map(({ timeouts }) => timeouts.responseMs)).toStrictEqual([600_000, 600_000]);
  });

  it('buys once by POST, and asks each time by GET', async () => {
    const { lb, sent } = routes();
    const post = lb.post('x', { n: 1 });
    expect(await lastValueFrom(post)).toStrictEqual(await lastValueFrom(post));
    expect(sent).toHaveLength(1);
    const get = lb.get('x');
    await lastValueFrom(get);
    await lastValueFrom(get);
    expect(sent).toHaveLength(3);
    expect([post.jobId, get.jobId]).toStrictEqual(['', '']);
    for await (const event of get) expect(['submitting', 'settled']).toContain(event.type);
  });

  it('checks the answer against a schema, and the body against JSON', async () => {
    const { lb, sent } = routes();
    const good = lb.get('x', { output: z.object({ ok: z.boolean() }) });
    expect(await firstValueFrom(good.pipe(toOutcome()))).toMatchObject({ output: { ok: true } });
    const bad = lb.post('x', {}, { output: z.object({ ok: z.string() }) });
    expect(await firstValueFrom(bad.pipe(toOutcome()))).toMatchObject({ code: 'output-mismatch' });
    const count = sent.length;
    await expect(lastValueFrom(lb.post('x', 1n))).rejects.toMatchObject({ code: 'invalid-input' });
    expect(sent).toHaveLength(count);
  });

  it('refuses a base URL and options that cannot be used', () => {
    const { client } = routes();
    expect(() => client.routes('lb.example.test')).toThrow('lbBaseUrl');
    expect(() => client.routes('https://lb.example.test', { executionTimeoutMs: -1 })).toThrow(
      'executionTimeoutMs',
    );
    expect(() => client.routes('https://lb.example.test', { deadlineMs: -1 })).toThrow('deadlineMs');
  });
});
