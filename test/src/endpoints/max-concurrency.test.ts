import { lastValueFrom, merge, NEVER, toArray } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import { openGate } from '../../../src/policy/gates/built-in-gates.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { clientOver, finished } from '../../support/client-over.js';
import { scriptedClient } from '../../support/scripted-client.js';
import { inVirtualTime, replied } from '../../support/virtual-time.js';

const done = (id: string) => ({ id, status: 'COMPLETED', output: {} });

describe('maxConcurrency', () => {
  it('bounds the requests of a client, of whichever endpoint and kind', () => {
    const service = scriptedClient({ maxConcurrency: 2 });
    const endpoints = [service.client.queue('a'), service.client.queue('b')];
    for (let row = 0; row < 4; row += 1) endpoints[row % 2]!.run({ row }).subscribe();
    endpoints[0]!.health().subscribe();
    service.client.routes('https://lb.example.test').get('ping').subscribe();
    expect(service.paths).toStrictEqual(['/v2/a/run', '/v2/b/run']);
    service.answer('/a/run', done('1'));
    expect(service.paths).toHaveLength(3);
    for (const [id, path] of ['/b/run', '/a/health', '/ping', '/a/run', '/b/run'].entries())
      service.answer(path, done(`more-${id}`));
    expect(service.paths).toHaveLength(6);
  });

  it('bounds an endpoint, and no other one', () => {
    const service = scriptedClient();
    const bounded = service.client.queue('a', { maxConcurrency: 1 });
    const free = service.client.queue('b');
    for (let row = 0; row < 3; row += 1)
      for (const endpoint of [bounded, free]) endpoint.run({ row }).subscribe();
    expect(service.paths).toStrictEqual(['/v2/a/run', ...Array<string>(3).fill('/v2/b/run')]);
  });

  it('bounds what is answered at once where none is given: of each endpoint and kind by itself', () => {
    const service = scriptedClient();
    const [one, other] = [service.client.queue('a'), service.client.queue('b')];
    for (let row = 0; row < 300; row += 1) one.run({ row }).subscribe();
    expect(service.posts()).toBe(256);
    // Another object of the same endpoint has no bound of its own.
    service.client.queue('a').run({}).subscribe();
    expect(service.posts()).toBe(256);
    other.run({}).subscribe();
    one.attach('j1').subscribe();
    one.health().subscribe();
    expect(service.paths.slice(256)).toStrictEqual(['/v2/b/run', '/v2/a/status/j1', '/v2/a/health']);
    service.answer('/v2/a/run', done('more'));
    expect(service.paths.slice(259)).toStrictEqual(['/v2/a/run']);
  });

  it('does not bound what is answered late, nor anything where it is Infinity', () => {
    const service = scriptedClient();
    const routes = service.client.routes('https://lb.example.test');
    for (let row = 0; row < 300; row += 1) {
      service.client.queue('a').runSync({ row }).subscribe();
      routes.get('ping').subscribe();
      routes.post('ping', { row }).subscribe();
    }
    expect(service.paths).toHaveLength(900);
    const unbounded = scriptedClient({ maxConcurrency: Infinity });
    for (let row = 0; row < 300; row += 1) unbounded.client.queue('a').run({ row }).subscribe();
    expect(unbounded.posts()).toBe(300);
  });

  it('lets a poll pass before the submissions that wait', () => {
    inVirtualTime(({ cold, scheduler, flush }) => {
      const paths: string[] = [];
      const client = createClient({
        baseUrl: 'https://api.example.test',
        scheduler,
        maxConcurrency: 1,
        transport: ({ url }) => {
          paths.push(new URL(url).pathname);
          const id = `j${paths.length}`;
          const polled = { id: 'j1', status: 'COMPLETED', output: {} };
          return cold('---(r|)', {
            r: replied(200, url.includes('/status/') ? polled : { id, status: 'IN_QUEUE' }),
          });
        },
      });
      const endpoint = client.queue('a', { poll: pollFixed(1, scheduler) });
      for (let row = 0; row < 9; row += 1) endpoint.run({ row }).subscribe();
      scheduler.schedule(() => expect(paths).toContain('/v2/a/status/j1'), 12);
      scheduler.maxFrames = 60;
      flush();
      expect(paths.filter((path) => path.endsWith('/run')).length).toBeGreaterThan(4);
    });
  });

  it('a job that waits for its turn is cancelled and left without a request', async () => {
    const service = scriptedClient({ maxConcurrency: 1 });
    const endpoint = service.client.queue('a');
    endpoint.run({ row: 0 }).subscribe();
    const [cancelled, left] = [endpoint.run({ row: 1 }), endpoint.run({ row: 2 })];
    const outcome = cancelled.outcome();
    left.subscribe().unsubscribe();
    expect(await cancelled.cancel()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(await outcome).toMatchObject({ code: 'job-cancelled' });
    service.answer('/run', done('1'));
    expect(service.posts()).toBe(1);
    endpoint.run({ row: 3 }).subscribe();
    expect(service.posts()).toBe(2);
  });

  it.each([
    ['is refused', 429],
    ['fails', 400],
    ['is not understood', 200],
  ])('a slot is free again when the request %s', (_, status) => {
    const service = scriptedClient({ maxConcurrency: 1 });
    const endpoint = service.client.queue('a', { retry: { maxRetries: 0 } });
    for (let row = 0; row < 2; row += 1) endpoint.run({ row }).subscribe();
    service.answer('/run', { error: 'no' }, status);
    expect(service.posts()).toBe(2);
  });

  it('a slot is free again when a checkpoint fails, and when nobody waits for what it allowed', async () => {
    const service = scriptedClient({ maxConcurrency: 1 });
    const endpoint = service.client.queue('a');
    const checkpoint = () => Promise.reject(new Error('the disk is full'));
    await expect(endpoint.run({}, { checkpoint }).outcome()).rejects.toThrow('the disk is full');
    let durable = () => {};
    const slow = () => new Promise<void>((resolve) => (durable = resolve));
    endpoint.run({}, { checkpoint: slow }).subscribe().unsubscribe();
    endpoint.run({ row: 1 }).subscribe();
    expect(service.posts()).toBe(0);
    durable();
    await new Promise(setImmediate);
    durable();
    await expect.poll(() => service.posts()).toBe(1);
  });

  it('a slot is free again when what is asked is left', async () => {
    const service = scriptedClient({ maxConcurrency: 1 });
    const endpoint = service.client.queue('a');
    endpoint.health().subscribe().unsubscribe();
    await Promise.resolve();
    endpoint.stream('j').subscribe();
    endpoint.health().subscribe();
    expect(service.paths).toStrictEqual(['/v2/a/health', '/v2/a/stream/j']);
    service.answer('/stream/j', { status: 'IN_PROGRESS', stream: [] });
    expect(service.paths).toHaveLength(3);
  });

  it('a job that waits while a poll is on the wire is not sent when both are left', async () => {
    const service = scriptedClient({ maxConcurrency: 1 });
    const endpoint = service.client.queue('a');
    const both = merge(endpoint.attach('j'), endpoint.run({}));
    const subscription = both.subscribe();
    subscription.unsubscribe();
    await new Promise(setImmediate);
    expect(service.paths).toStrictEqual(['/v2/a/status/j']);
    both.subscribe();
    service.answer('/status/j', { id: 'j', status: 'IN_PROGRESS' });
    expect(service.posts()).toBe(1);
  });

  it('an endpoint that pauses holds no slot of the others', () => {
    const open = openGate();
    const gate: Gate = {
      ...open,
      tryPass: (request) => request.endpointId !== 'paused' && open.tryPass!(request),
      admit: (request) => (request.endpointId === 'paused' ? NEVER : open.admit(request)),
    };
    const service = scriptedClient({ maxConcurrency: 1, gate });
    for (let row = 0; row < 3; row += 1) service.client.queue('paused').run({ row }).subscribe();
    service.client.queue('well').run({}).subscribe();
    expect(service.paths).toStrictEqual(['/v2/well/run']);
  });

  it('holds for rows that end at once, however many', async () => {
    const { client, sent } = clientOver(finished, { maxConcurrency: 1, jobIds: { claim: () => undefined } });
    const endpoint = client.queue('a', { maxConcurrency: 1 });
    const rows = Array.from({ length: 5_000 }, (_, row) => ({ row }));
    const outcomes = await lastValueFrom(
      pullJobs(rows, (row) => endpoint.run(row), { concurrency: 9 }).pipe(toArray()),
    );
    expect([outcomes.length, sent.length]).toStrictEqual([5_000, 5_000]);
  });

  it('is a whole number from 1', () => {
    for (const maxConcurrency of [0, -1, 1.5, NaN]) {
      expect(() => clientOver(undefined, { maxConcurrency })).toThrow('maxConcurrency');
      expect(() => clientOver().client.queue('a', { maxConcurrency })).toThrow('maxConcurrency');
    }
  });
});
