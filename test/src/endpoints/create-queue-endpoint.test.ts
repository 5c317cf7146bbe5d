import { firstValueFrom, lastValueFrom, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { openGate } from '../../../src/policy/gates/built-in-gates.js';
import type { PollJob, PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import { clientOver, finished } from '../../support/client-over.js';
import { inVirtualTime, replied } from '../../support/virtual-time.js';

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
    expect(() => client.queue('e').retry('')).toThrow('jobId');
    expect(() => client.queue('e').stream('')).toThrow('jobId');
    expect(() => client.queue('e').status('j', { waitMs: 1 })).toThrow('waitMs');
    expect(() => client.queue('e').runSync({}, { waitMs: 1 })).toThrow('waitMs');
    expect(() => client.queue('e').run({}, { webhook: 'x' })).toThrow('webhook');
    expect(() => client.queue('e').watchHealth({ everyMs: 0 })).toThrow('everyMs');
  });

  it.each([[new Date(0)], [{ toJSON: () => undefined }], [{ toJSON: () => [] }], [new Map([['a', 1]])]])(
    'sends no input that is no object in JSON: %o',
    async (input: object) => {
      const { client, sent } = clientOver(finished);
      const outcome = await client.queue('e').run(input).outcome();
      expect(outcome).toMatchObject({ code: 'invalid-row', paid: 'no' });
      expect(sent).toStrictEqual([]);
    },
  );

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
    let posts = 0;
    const completed = () =>
      replied(200, { id: `j${++posts}`, status: 'COMPLETED', output: { text: 'hello' } });
    const { client } = clientOver(completed);
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

  it.each([
    ['until it cannot be told', undefined, '--h 13ms h 10ms #', 3],
    ['until nobody is left', '^ 4ms !', '--h', 1],
  ])('watches the health: at once, and again so long after each reply, %s', (_, left, shown, times) => {
    let asked = 0;
    inVirtualTime(({ scheduler, cold, expectObservable }) => {
      const replies = { h: replied(200, { jobs: { inQueue: 1 } }), n: replied(404, 'no such endpoint') };
      const marbles = ['--(h|)', '----(h|)', '-(n|)'];
      const transport = () => cold(marbles[asked++]!, replies);
      const { client } = clientOver(undefined, { scheduler, gate: openGate({ scheduler }), transport });
      const gone = expect.objectContaining({ name: 'NotFoundError' });
      const health = { h: { jobs: { inQueue: 1 } } };
      expectObservable(client.queue('e').watchHealth({ everyMs: 10 }), left).toBe(shown, health, gone);
    });
    expect(asked).toBe(times);
  });

  it('sends a purge once, unless it was provably refused', async () => {
    const statuses = [429, 500];
    const { client, sent } = clientOver(() => replied(statuses.shift() ?? 200, 'no'), { random: () => 0 });
    const purged = client.queue('e', { retry: { initialMs: 0 } }).purgeQueue();
    await expect(lastValueFrom(purged)).rejects.toMatchObject({ code: 'server-error' });
    expect(sent.map(({ method, url }) => `${method} ${new URL(url).pathname}`)).toStrictEqual([
      ...['POST /v2/e/purge-queue', 'POST /v2/e/purge-queue'],
    ]);
  });

  it('errors where a status has no answer', async () => {
    const { client } = clientOver(() => replied(404, { error: 'no such job' }));
    await expect(lastValueFrom(client.queue('e').status('j'))).rejects.toMatchObject({
      name: 'NotFoundError',
      message: 'GET /v2/e/status/j: HTTP 404: no such job',
    });
  });

  it('tells the poll schedule whose job it is, and when and how it was submitted', () => {
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
      let posts = 0;
      const queued = () => replied(200, { id: `j${++posts}`, status: 'IN_QUEUE' });
      const { client } = clientOver(queued, { scheduler, gate });
      const input = { images: ['https://x.test/a.png'], prompt: 'x' };
      const edit = client.imageEdit('edit', { poll });
      const subscriptions = [
        edit.run(input, { key: 'a' }),
        edit.runSync({ ...input, resolution: '4k' }, { key: 'b' }),
        client.queue('e', { poll }).run({}, { key: 'c', variant: 'large' }),
        client.queue('e', { poll }).attach('old', { key: 'd', submittedAt: -5_000 }),
        edit.attach('old', { key: 'e' }),
        edit.attach('older', { key: 'f', sync: true }),
      ].map((job) => job.subscribe());
      flush();
      for (const subscription of subscriptions) subscription.unsubscribe();
      expect(
        jobs.map(({ key, endpoint, variant, submittedAt, sync }) => [
          key,
          endpoint,
          variant,
          submittedAt,
          sync,
        ]),
      ).toStrictEqual([
        ['a', 'edit', '1k', 0, false],
        ['b', 'edit', '4k', 0, true],
        ['c', 'e', 'large', 0, false],
        ['d', 'e', undefined, -5_000, false],
        ['e', 'edit', undefined, 0, false],
        ['f', 'edit', undefined, 0, true],
      ]);
    });
  });
});
