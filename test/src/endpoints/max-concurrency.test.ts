import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  EMPTY,
  firstValueFrom,
  lastValueFrom,
  map,
  merge,
  NEVER,
  Subject,
  takeUntil,
  timer,
  toArray,
  type Observable,
  type Subscription,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import { openGate } from '../../../src/policy/gates/built-in-gates.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { clientOver, finished } from '../../support/client-over.js';
import { scriptedClient } from '../../support/scripted-client.js';
import { seeded } from '../../support/seeded.js';
import { inVirtualTime, replied } from '../../support/virtual-time.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

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

  it.each(['submit', 'poll', 'other'] as const)(
    'a slot is free again when the gate leaves the very call that asks, by a request of the kind %s',
    async (kind) => {
      const leave = new Subject<void>();
      const events: string[] = [];
      const gate: Gate = {
        admit: () => EMPTY,
        observe: () => undefined,
        tryPass(request) {
          if (request.kind === kind) leave.next();
          return true;
        },
      };
      const service = scriptedClient({ maxConcurrency: 1, gate });
      const endpoint = service.client.queue('a', { poll: pollFixed(1) });
      const job = endpoint.run({}, { checkpoint: ({ type }) => (events.push(type), EMPTY) });
      const calls = { submit: job, poll: endpoint.attach('j'), other: endpoint.health() };
      const isLeft = firstValueFrom(leave);
      (calls[kind] as Observable<unknown>).pipe(takeUntil(leave)).subscribe();
      await isLeft;
      await new Promise(setImmediate);
      // No intent without a POST: it would hold its price for ever.
      expect([service.paths, events]).toStrictEqual([[], []]);
      endpoint.run({ row: 1 }).subscribe();
      service.answer('/run', done('1'));
      await service.client.close();
      expect(service.paths).toStrictEqual(['/v2/a/run']);
    },
  );

  it('a slot is free again when the gate leaves the chunks that it is asked for', async () => {
    const leave = new Subject<void>();
    const tryPass = () => (leave.next(), true);
    const gate: Gate = { admit: () => EMPTY, observe: () => undefined, tryPass };
    const service = scriptedClient({ maxConcurrency: 1, gate });
    const endpoint = service.client.queue('a');
    endpoint.stream('j').pipe(takeUntil(leave)).subscribe();
    endpoint.run({ row: 1 }).subscribe();
    await new Promise(setImmediate);
    expect(service.paths).toStrictEqual(['/v2/a/run']);
  });

  it('a job that its gate leaves and subscribes to again has a slot while its POST is on the wire', async () => {
    const events: string[] = [];
    const left = new Subject<void>();
    const calls: (() => void)[] = [() => left.next(), () => job.subscribe()];
    const tryPass = () => (calls.splice(0).forEach((call) => call()), true);
    const gate: Gate = { admit: () => EMPTY, observe: () => undefined, tryPass };
    const service = scriptedClient({ maxConcurrency: 1, gate });
    const endpoint = service.client.queue('a');
    const job = endpoint.run({ row: 1 }, { checkpoint: ({ type }) => (events.push(type), EMPTY) });
    job.pipe(takeUntil(left)).subscribe();
    endpoint.run({ row: 2 }).subscribe();
    await new Promise(setImmediate);
    expect([service.paths, events]).toStrictEqual([['/v2/a/run'], ['intent']]);
  });

  it('a subscriber that joins the request for chunks that is on the wire holds no slot of its own', () => {
    const service = scriptedClient({ maxConcurrency: 2 });
    const endpoint = service.client.queue('a');
    const chunks = endpoint.stream('j');
    chunks.subscribe().unsubscribe();
    chunks.subscribe();
    endpoint.run({ row: 1 }).subscribe();
    expect(service.paths).toStrictEqual(['/v2/a/stream/j', '/v2/a/run']);
  });

  it('a job that its gate left is left again while it waits, and holds up no close', async () => {
    const leave = new Subject<void>();
    let isOpen = true;
    const tryPass = () => {
      const passes = isOpen;
      isOpen = false;
      leave.next();
      return passes;
    };
    const { client, paths } = scriptedClient({
      gate: { admit: () => NEVER, observe: () => undefined, tryPass },
    });
    const job = client.queue('a').run({});
    job.pipe(takeUntil(leave)).subscribe();
    job.subscribe().unsubscribe();
    await client.close();
    expect(paths).toStrictEqual([]);
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

  it.each([
    ['requests for chunks', { status: 'IN_PROGRESS', stream: [{ output: 1 }] }],
    ['polls that are tried again', { id: 'other', status: 'COMPLETED' }],
  ])('%s wait behind the polls that came before', (kind, body) => {
    inVirtualTime(({ cold, scheduler, flush }) => {
      const asked: string[] = [];
      const transport = ({ url }: { url: string }) => {
        const id = url.split('/').pop()!;
        asked.push(id);
        return cold('9ms (a|)', { a: replied(200, id === 'first' ? body : { id, status: 'IN_PROGRESS' }) });
      };
      const gate = openGate({ scheduler, random: () => 0 });
      const wire = { scheduler, transport, gate, random: () => 0 };
      const client = createClient({ baseUrl: 'https://api.example.test', maxConcurrency: 1, ...wire });
      const poll = pollFixed(10, scheduler);
      const retry = { initialMs: 1, maxMs: 1 };
      const endpoint = client.queue('a', { poll, retry, deadlineMs: 2_000 });
      (kind.startsWith('polls') ? endpoint.attach('first') : endpoint.stream('first')).subscribe({
        error: () => undefined,
      });
      for (let job = 0; job < 20; job += 1) endpoint.attach(`j${job}`).subscribe();
      flush();
      const places = asked.flatMap((id, place) => (id === 'first' ? [place] : []));
      const others = places.slice(1).map((place, index) => place - places[index]! - 1);
      expect(others.length).toBeGreaterThan(4);
      expect(Math.min(...others)).toBeGreaterThanOrEqual(18);
    });
  });

  it('polls of all objects of an endpoint go in one order, however many objects there are', () => {
    inVirtualTime(({ cold, scheduler, flush }) => {
      const asked = new Map<string, number>();
      const transport = ({ url }: { url: string }) => {
        const id = url.split('/').pop()!;
        asked.set(id, (asked.get(id) ?? 0) + 1);
        return cold('9ms (a|)', { a: replied(200, { id, status: 'IN_PROGRESS' }) });
      };
      const client = createClient({
        baseUrl: 'https://api.example.test',
        maxConcurrency: 1,
        scheduler,
        transport,
      });
      const object = () => client.queue('a', { poll: pollFixed(10, scheduler), deadlineMs: 2_000 });
      const first = object();
      for (let job = 0; job < 20; job += 1) first.attach(`j${job}`).subscribe();
      for (let job = 0; job < 5; job += 1) object().attach(`other${job}`).subscribe();
      flush();
      const times = [...asked.values()];
      expect(times).toHaveLength(25);
      expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1);
    });
  });

  it.each([1, 2, 3, 4])('all slots are free again after a thousand random steps, seed %i', (seed) => {
    inVirtualTime(({ scheduler, flush }) => {
      const random = seeded(seed);
      let isOver = false;
      const onWire: string[] = [];
      const answers = [
        { status: 'IN_PROGRESS' },
        { status: 'IN_PROGRESS' },
        { status: 'COMPLETED' },
        { id: 'other', status: 'X' },
      ];
      const transport = ({ url }: { url: string }) => {
        const id = url.split('/').pop()!;
        if (isOver) onWire.push(id);
        const reply = replied(200, { id, ...answers[Math.floor(random() * answers.length)] });
        return isOver ? NEVER : timer(Math.floor(random() * 20), scheduler).pipe(map(() => reply));
      };
      const wire = { scheduler, transport, random };
      const client = createClient({ baseUrl: 'https://api.example.test', maxConcurrency: 3, ...wire });
      const object = () => client.queue('a', { poll: pollFixed(15, scheduler), deadlineMs: 300 });
      const followed: Subscription[] = [];
      const step = (number: number) => {
        const left = followed[Math.floor(random() * followed.length)];
        const job = object().attach(`j${number}`);
        if (random() < 0.5) left?.unsubscribe();
        else if (random() < 0.2)
          followed.push(
            object()
              .stream(job)
              .subscribe({ error: () => undefined }),
          );
        else followed.push(job.subscribe(() => random() < 0.1 && followed.at(-1)?.unsubscribe()));
      };
      for (let number = 0; number < 1_000; number++)
        scheduler.schedule(() => step(number), Math.floor(random() * 2_000));
      flush();
      isOver = true;
      const probes = [0, 1, 2, 3, 4].map((job) => object().attach(`after${job}`).subscribe());
      expect(onWire).toStrictEqual(['after0', 'after1', 'after2']);
      for (const probe of probes) probe.unsubscribe();
    });
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

describe('the replies to polls', () => {
  const end = (id: string, bytes = 0) => ({ id, status: 'COMPLETED', output: 'x'.repeat(bytes) });
  const mib = 1024 * 1024;

  /** Attached jobs, of which the oldest request is answered. */
  function attached(count: number, more: Parameters<typeof scriptedClient>[0] = {}) {
    const service = scriptedClient(more);
    const endpoint = service.client.queue('a', { poll: pollFixed(1e9), retry: { maxRetries: 0 } });
    const subscriptions = Array.from({ length: count }, (_, job) => endpoint.attach(`j${job}`).subscribe());
    let answers = 0;
    return {
      ...service,
      subscriptions,
      onWire: () => service.paths.length - answers,
      async next(bytes: number, status = 'COMPLETED') {
        const id = service.paths[answers++]!.split('/').pop()!;
        service.answer(`/status/${id}`, { ...end(id, bytes), status });
        await Promise.resolve();
      },
    };
  }

  it('are few at first, and soon as many as there may be where results are small', async () => {
    const { onWire, next } = attached(600);
    const counts = [onWire()];
    for (let answers = 0; answers < 20; answers++) {
      await next(10);
      counts.push(onWire());
    }
    expect(counts).toStrictEqual([
      4, 5, 7, 9, 12, 16, 22, 29, 39, 53, 71, 94, 126, 168, 224, 256, 256, 256, 256, 256, 256,
    ]);
  });

  it('are sixteen while jobs run, because all of them may end at once', async () => {
    const { onWire, next } = attached(600);
    for (let answers = 0; answers < 100; answers++) await next(0, 'IN_PROGRESS');
    expect(onWire()).toBe(16);
  });

  it('are as many as there is room for results as large as the last one', async () => {
    const { onWire, next } = attached(60);
    for (let answers = 0; answers < 20; answers++) {
      await next(10 * mib);
      expect(onWire()).toBeLessThanOrEqual(4);
      if (answers > 4) expect(onWire()).toBe(3);
    }
    // Jobs that still run are asked about by at most eight polls at a time, however large results were.
    for (let answers = 0; answers < 12; answers++) {
      await next(0, 'IN_PROGRESS');
      expect(onWire()).toBeLessThanOrEqual(8);
    }
    expect(onWire()).toBe(8);
    for (let answers = 0; answers < 10; answers++) await next(10);
    expect(onWire()).toBeGreaterThan(15);
  });

  it('go alone where one is larger than all the room', async () => {
    const { onWire, next, paths } = attached(9);
    await next(33 * mib);
    for (let answers = 0; answers < 6; answers++) await next(33 * mib);
    expect([onWire(), paths.length]).toStrictEqual([1, 8]);
  });

  it('are of all endpoints together, and each has one poll on the wire, so that none waits for one that hangs', async () => {
    const service = attached(60);
    const other = service.client.queue('b', { poll: pollFixed(1e9) });
    for (const id of ['first', 'second']) other.attach(id).subscribe();
    expect(service.paths).toContain('/v2/b/status/first');
    expect(service.paths).not.toContain('/v2/b/status/second');
    for (let answers = 0; answers < 60 && !service.paths.includes('/v2/b/status/second'); answers++)
      await service.next(10);
    expect(service.paths).toContain('/v2/b/status/second');
  });

  it('do not become more by short failures: results may be large all the same', async () => {
    const { onWire, next } = attached(60);
    for (let answers = 0; answers < 20; answers++) await next(10, 'FAILED');
    expect(onWire()).toBeLessThanOrEqual(16);
  });

  it('are remembered where an endpoint with a limit is created anew', async () => {
    const { client, next, onWire } = attached(60, { maxConcurrency: 64 });
    for (let answers = 0; answers < 20; answers++) await next(10);
    const before = onWire();
    const anew = client.queue('a', { poll: pollFixed(1e9), maxConcurrency: 64 });
    for (let job = 0; job < 10; job++) anew.attach(`anew${job}`).subscribe();
    expect(onWire()).toBe(before + 10);
  });

  it('take hardly any memory before they are sent, however many wait', () => {
    const jobs = 4_000;
    const heap = () => {
      collect();
      return process.memoryUsage().heapUsed;
    };
    const endpoint = scriptedClient().client.queue('a');
    const before = heap();
    const left = merge(...Array.from({ length: jobs }, (_, job) => endpoint.attach(`j${job}`))).subscribe();
    // It is what a job takes that waits for the time of its poll.
    expect((heap() - before) / jobs).toBeLessThan(3_500);
    left.unsubscribe();
  });

  it('give their room back when jobs are left, on the wire and in the queue', async () => {
    const { onWire, subscriptions, paths, next } = attached(12);
    for (const subscription of subscriptions.slice(2, 9)) subscription.unsubscribe();
    await new Promise(setImmediate);
    expect(paths.map((path) => path.split('/').pop())).toStrictEqual(['j0', 'j1', 'j2', 'j3', 'j9', 'j10']);
    await next(10);
    expect(paths).toHaveLength(7);
    expect(onWire()).toBe(6);
  });

  it.each([
    ['fail', 500, { error: 'no' }],
    ['are refused', 429, { error: 'no' }],
    ['are not understood', 200, { id: 'other', status: 'COMPLETED' }],
    ['do not know the job', 404, { error: 'no' }],
  ])('give their room back when they %s', (_, status, body) => {
    const { paths, answer } = attached(8);
    for (let job = 0; job < 4; job++) answer(`/status/j${job}`, body, status);
    expect(paths.slice(0, 8)).toHaveLength(8);
  });

  it('give their room back when no reply comes', () => {
    inVirtualTime(({ cold, scheduler, flush }) => {
      const paths: string[] = [];
      const transport = ({ url }: { url: string }) => {
        paths.push(url);
        return cold<never>('-----#', undefined, new Error('lost'));
      };
      const client = createClient({ baseUrl: 'https://api.example.test', scheduler, transport });
      const endpoint = client.queue('a', { poll: pollFixed(1e9, scheduler) });
      for (let job = 0; job < 6; job++) endpoint.attach(`j${job}`).subscribe();
      expect(paths).toHaveLength(4);
      scheduler.maxFrames = 20;
      flush();
      expect(paths).toHaveLength(6);
    });
  });
});
