import { firstValueFrom, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import type { WireReply } from '../../../src/transport/transport.js';
import { clientOver } from '../../support/client-over.js';
import { replied } from '../../support/virtual-time.js';

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

  it('waits for no answer longer than its deadline, where no other limit is given', async () => {
    const { client, sent } = routes();
    for (const options of [{ deadlineMs: 6_000 }, { deadlineMs: 6_000, executionTimeoutMs: 9_000 }])
      await lastValueFrom(client.routes('https://lb.example.test', options).post('x', {}));
    expect(sent.map(({ timeouts }) => timeouts.responseMs)).toStrictEqual([6_000, 9_000]);
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
