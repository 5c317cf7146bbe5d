import assert from 'node:assert/strict';
import { lastValueFrom, map, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import {
  createClient,
  createLanes,
  pollFixed,
  pullJobs,
  rateGate,
  retryPurchase,
  toOutcome,
  withinLane,
} from '../../src/index.js';
import { createTestService, inVirtualTime, jobEvents, type TestFault } from '../../src/testing.js';

const equal = (actual: unknown, expected: unknown) => assert.deepEqual(actual, expected);

describe('inVirtualTime', () => {
  it('has its defaults for options that are undefined', () => {
    inVirtualTime(equal, ({ createService, createClient, flush }) => {
      const service = createService({ run: undefined, latencyMs: undefined });
      createClient(service, { baseUrl: undefined, random: undefined }).queue('echo').run({}).subscribe();
      flush();
      expect(service.bill()).toHaveLength(1);
    });
  });

  it('plays a job, its polls, the gate and the service by one clock', () => {
    inVirtualTime(equal, ({ createService, createClient, flush, scheduler }) => {
      const service = createService({ queueMs: () => 60_000, runMs: () => 3_600_000, latencyMs: 20 });
      const endpoint = createClient(service, { gate: rateGate(0.01) }).queue('echo', { deadlineMs: 1e8 });
      const seen: string[] = [];
      endpoint.run({ text: 'hello' }).subscribe((event) => {
        seen.push(event.type === 'status' ? event.status : event.type);
      });
      flush();
      expect(seen.filter((type) => type !== 'waiting')).toStrictEqual([
        ...['submitting', 'accepted', 'IN_QUEUE', 'IN_PROGRESS', 'settled'],
      ]);
      expect(scheduler.frame).toBeGreaterThan(3_660_000);
      expect(service.bill()).toStrictEqual([
        { id: 'job-1', endpointId: 'echo', input: { text: 'hello' }, status: 'COMPLETED' },
      ]);
    });
  });

  it.each([[[() => undefined], 'play'] as const, [[undefined, () => undefined], 'assertEqual'] as const])(
    'names the function that it is not given',
    (given, missing) => {
      const call = inVirtualTime as unknown as (...functions: readonly unknown[]) => void;
      expect(() => call(...given)).toThrow(`${missing}: is not a function`);
    },
  );

  it('takes marbles for jobs, also with events of one’s own, and counts cancels', () => {
    inVirtualTime(equal, ({ job, expectObservable }) => {
      const lanes = createLanes({ slots: 1 });
      expectObservable(job('s-a-(d|)').pipe(withinLane(lanes, 'x'))).toBe('s-a-(d|)', jobEvents);
      expectObservable(job('(d|)').pipe(withinLane(lanes, 'x'))).toBe('----(d|)', jobEvents);
      const own = { x: { type: 'status', status: 'RUNNING' } } as const;
      expectObservable(job('-x|', own)).toBe('-x|', own);
      const cancelled = job('-');
      void cancelled.cancel();
      expect(cancelled.cancels).toBe(1);
    });
  });

  it('fails a test whose marbles differ', () => {
    const wrong = () =>
      inVirtualTime(equal, ({ job, expectObservable }) =>
        expectObservable(job('(d|)')).toBe('(f|)', jobEvents),
      );
    expect(wrong).toThrow();
  });
});

/** Runs rows through a service in memory, and gives their outcomes and what was sent. */
function played(fault: (count: number) => TestFault | undefined, rows = [1]) {
  const scheduler = new VirtualTimeScheduler(undefined, Infinity);
  scheduler.now = () => scheduler.frame;
  const service = createTestService(scheduler, { fault: ({ count }) => fault(count) });
  const client = createClient({
    baseUrl: 'https://api.example.test',
    transport: service.transport,
    scheduler,
    random: () => 1,
  });
  const outcomes: string[] = [];
  pullJobs(rows, (row) => client.queue('e').run({ row }), { concurrency: 1 }).subscribe(({ outcome }) =>
    outcomes.push(outcome.status === 'completed' ? outcome.status : outcome.code),
  );
  scheduler.flush();
  return {
    outcomes,
    bought: service.bill().length,
    posts: service.requests.filter((r) => r.endsWith('/run')).length,
  };
}

describe('a service in memory', () => {
  it.each<[TestFault, object]>([
    ['refused', { outcomes: ['completed'], bought: 1, posts: 2 }],
    ['unreachable', { outcomes: ['completed'], bought: 1, posts: 2 }],
    ['lost', { outcomes: ['unknown'], bought: 1, posts: 1 }],
    ['broken', { outcomes: ['unknown'], bought: 0, posts: 1 }],
  ])('%s at the purchase', (fault, end) => {
    expect(played((count) => (count === 1 ? fault : undefined))).toStrictEqual(end);
  });

  it.each<TestFault>(['refused', 'unreachable', 'lost', 'broken'])('%s at a poll loses nothing', (fault) => {
    const end = { outcomes: ['completed'], bought: 1, posts: 1 };
    expect(played((count) => (count === 2 ? fault : undefined))).toStrictEqual(end);
  });

  it('ends a job as FAILED whose function throws, and runs it again when it is bought again', () => {
    inVirtualTime(equal, ({ createService, createClient, expectObservable }) => {
      let runs = 0;
      const service = createService({
        run: () => {
          if ((runs += 1) === 1) throw new Error('no picture');
          return 'done';
        },
        runMs: () => 0,
      });
      const endpoint = createClient(service).queue('e');
      const job = retryPurchase(() => endpoint.run({}), { maxRetries: 1, codes: ['job-failed'] });
      const output = job.pipe(
        toOutcome(),
        map(({ status }) => status),
      );
      expectObservable(output).toBe('(c|)', { c: 'completed' });
    });
  });

  it('cancels, answers /runsync at the end, /health, and routes', async () => {
    const scheduler = new VirtualTimeScheduler(undefined, Infinity);
    scheduler.now = () => scheduler.frame;
    const service = createTestService(scheduler, {
      queueMs: (input) => ((input as { wait?: boolean }).wait === true ? 1_000 : 0),
      route: (method, path, body) => (path === '/sum' ? { method, body } : undefined),
    });
    const client = createClient({
      baseUrl: 'https://api.example.test',
      transport: service.transport,
      scheduler,
    });
    const endpoint = client.queue('e');
    const cancelled = endpoint.run({ wait: true });
    cancelled.subscribe();
    expect((await lastValueFrom(endpoint.health())).jobs?.inQueue).toBe(1);
    expect(await cancelled.cancel()).toMatchObject({ code: 'job-cancelled' });
    const sync = endpoint.runSync({ n: 1 }).outcome();
    scheduler.flush();
    expect(await sync).toMatchObject({ output: { echo: { n: 1 } }, executionTimeMs: 1_000 });
    const routes = client.routes('https://lb.example.test');
    expect(await routes.post('sum', [1]).output()).toStrictEqual({ method: 'POST', body: [1] });
    expect(await routes.get('none').outcome()).toMatchObject({ code: 'route-not-found' });
    expect(service.bill().map(({ status }) => status)).toStrictEqual(['CANCELLED', 'COMPLETED']);
  });
});

describe('a service that calls back', () => {
  /** Plays one job to its end: what was sent, and when its outcome came. */
  function called(options: Parameters<typeof createTestService>[1]) {
    const ended: [status: string, atMs: number][] = [];
    const requests: string[] = [];
    inVirtualTime(equal, ({ createService, createClient, flush, scheduler }) => {
      const service = createService({ runMs: () => 1_000, ...options });
      const endpoint = createClient(service).queue('e', {
        webhooks: service.webhooks,
        poll: pollFixed(30_000),
        deadlineMs: 600_000,
      });
      endpoint
        .run({})
        .pipe(toOutcome())
        .subscribe(({ status }) => ended.push([status, scheduler.frame]));
      flush();
      requests.push(...service.requests);
    });
    return { ended, requests };
  }

  const post = 'POST /v2/e/run';
  const poll = 'GET /v2/e/status/job-1';

  it('ends a job in the moment of its end, without a poll', () => {
    expect(called({})).toStrictEqual({ ended: [['completed', 1_000]], requests: [post] });
  });

  it('ends one whose answer was lost, or comes behind the call', () => {
    const lost = called({ fault: () => 'lost' });
    expect(lost).toStrictEqual({ ended: [['completed', 1_000]], requests: [post] });
    const slow = called({ latencyMs: 5_000 });
    expect(slow).toStrictEqual({ ended: [['completed', 10_000]], requests: [post] });
  });

  it('loses, delays and doubles calls as it is told', () => {
    const never = called({ callBackMs: () => [] });
    expect(never).toStrictEqual({ ended: [['completed', 30_000]], requests: [post, poll] });
    const late = called({ callBackMs: () => [4_000, 5_000] });
    expect(late).toStrictEqual({ ended: [['completed', 5_000]], requests: [post] });
  });

  it('calls no job that names no webhook', () => {
    inVirtualTime(equal, ({ createService, createClient, flush }) => {
      const seen: unknown[] = [];
      const service = createService({ callBackMs: (job) => (seen.push(job), [0]) });
      createClient(service).queue('e').run({}).subscribe();
      flush();
      expect(seen).toStrictEqual([]);
    });
  });
});
