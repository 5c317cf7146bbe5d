import {
  firstValueFrom,
  lastValueFrom,
  merge,
  of,
  repeat,
  retry,
  share,
  shareReplay,
  Subject,
  switchMap,
  take,
  tap,
  throwError,
  toArray,
  mergeMap,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../../src/endpoints/create-client.js';
import type { Job } from '../../../../src/operators/job.js';
import { switchJobs } from '../../../../src/operators/fan-out/switch-jobs.js';
import { toOutcome, toOutput } from '../../../../src/operators/to-outcome.js';
import { pollFixed } from '../../../../src/policy/polling/poll-schedule.js';
import type { QueueOptions } from '../../../../src/policy/queue-options.js';
import { serveQueue, type QueueServer } from '../../../support/queue-server.js';

const endpointOf = (server: QueueServer, options: QueueOptions = {}) =>
  createClient({ apiKey: 'canary-key-0123', baseUrl: server.url }).queue('echo', {
    poll: pollFixed(5),
    ...options,
  });
const outputOf = (job: Job<unknown>) => firstValueFrom(job.pipe(toOutput()));

describe('a job sends its POST at most once', () => {
  it('under retry', async () => {
    await using server = await serveQueue();
    let failures = 0;
    const failing = endpointOf(server)
      .run({ text: 'x' })
      .pipe(
        mergeMap((event) =>
          event.type === 'status' && ++failures < 4 ? throwError(() => 'poll') : of(event),
        ),
        retry(3),
        toOutput(),
      );
    expect(await lastValueFrom(failing)).toStrictEqual({ of: 'job-1' });
    expect(failures).toBeGreaterThan(1);
    expect(server.posts).toHaveLength(1);
  });

  it('under repeat', async () => {
    await using server = await serveQueue();
    const events = await lastValueFrom(endpointOf(server).run({}).pipe(repeat(3), toArray()));
    expect(events.filter(({ type }) => type === 'settled')).toHaveLength(3);
    expect(server.posts).toHaveLength(1);
  });

  it('under share and shareReplay', async () => {
    await using server = await serveQueue();
    const endpoint = endpointOf(server);
    const shared = endpoint.run({}).pipe(share());
    await Promise.all([lastValueFrom(shared), lastValueFrom(shared)]);
    await lastValueFrom(shared);
    expect(server.posts).toHaveLength(1);
    const replayed = endpoint.run({}).pipe(shareReplay({ bufferSize: 1, refCount: true }));
    await Promise.all([lastValueFrom(replayed), lastValueFrom(replayed)]);
    await lastValueFrom(replayed);
    expect(server.posts).toHaveLength(2);
  });

  it('with two subscribers and a late one, who is told the last event first', async () => {
    await using server = await serveQueue();
    const job = endpointOf(server).run({});
    const [one, two] = await Promise.all([outputOf(job), outputOf(job)]);
    expect(one).toStrictEqual(two);
    expect(await lastValueFrom(job.pipe(toArray()))).toMatchObject([{ type: 'settled' }]);
    expect(server.posts).toHaveLength(1);
  });

  it('under switchMap to the same job and back', async () => {
    await using server = await serveQueue({ polls: 3 });
    const job = endpointOf(server).run({});
    const clicks = new Subject<number>();
    const result = firstValueFrom(
      clicks.pipe(
        switchMap(() => job),
        toOutcome(),
      ),
    );
    for (const click of [1, 2, 3]) clicks.next(click);
    await server.arrived('/status/');
    clicks.next(4);
    expect(await result).toMatchObject({ status: 'completed' });
    expect(server.posts).toHaveLength(1);
  });

  it('when every subscriber leaves at each event and comes back', async () => {
    await using server = await serveQueue();
    const job = endpointOf(server).run({});
    for (let visit = 0; visit < 8; visit++) await firstValueFrom(job);
    expect(await outputOf(job)).toStrictEqual({ of: 'job-1' });
    expect(server.posts).toHaveLength(1);
  });

  it('with /runsync that goes on by polling', async () => {
    await using server = await serveQueue();
    const job = endpointOf(server).runSync({});
    expect(await outputOf(job)).toStrictEqual({ of: 'job-1' });
    expect(server.posts).toStrictEqual(['/v2/echo/runsync']);
    expect(job.statusCalls).toBe(2);
    expect(job.jobId).toBe('job-1');
  });

  it('sends nothing before anybody subscribes', async () => {
    await using server = await serveQueue();
    const job = endpointOf(server).run({});
    expect(job.jobId).toBeUndefined();
    expect(server.connections()).toBe(0);
  });
});

describe('unsubscribing while the POST is out', () => {
  it('keeps the id, and a later subscriber polls it (detach)', async () => {
    await using server = await serveQueue();
    const release = server.hold('/run');
    const checkpoints: unknown[] = [];
    const accepted = new Subject<void>();
    const isAccepted = lastValueFrom(accepted, { defaultValue: undefined });
    const checkpoint = (event: { type: string }) => {
      checkpoints.push(event);
      if (event.type === 'accepted') accepted.complete();
      return [];
    };
    const job = endpointOf(server).run({}, { checkpoint });
    const subscription = job.subscribe();
    await server.arrived('/run');
    subscription.unsubscribe();
    release();
    await isAccepted;
    expect(job.jobId).toBe('job-1');
    expect(server.polls).toStrictEqual([]);
    expect(await outputOf(job)).toStrictEqual({ of: 'job-1' });
    expect(server.posts).toHaveLength(1);
    expect(server.cancels).toStrictEqual([]);
    expect(checkpoints).toMatchObject([
      { type: 'intent' },
      { type: 'accepted', jobId: 'job-1' },
      { type: 'settled' },
    ]);
  });

  it('cancels when the id arrives (cancel)', async () => {
    await using server = await serveQueue();
    const release = server.hold('/run');
    const job = endpointOf(server, { onUnsubscribe: 'cancel' }).run({});
    const subscription = job.subscribe();
    await server.arrived('/run');
    subscription.unsubscribe();
    release();
    await server.arrived('/cancel/job-1');
    expect(server.posts).toHaveLength(1);
    expect(await firstValueFrom(job.pipe(toOutcome()))).toMatchObject({
      code: 'job-cancelled',
      jobId: 'job-1',
    });
    expect(server.posts).toHaveLength(1);
    expect(server.cancels).toStrictEqual(['job-1']);
  });

  it('does not cancel for somebody who came back before the id did', async () => {
    await using server = await serveQueue();
    const release = server.hold('/run');
    const job = endpointOf(server, { onUnsubscribe: 'cancel' }).run({});
    const subscription = job.subscribe();
    await server.arrived('/run');
    subscription.unsubscribe();
    const output = outputOf(job);
    release();
    expect(await output).toStrictEqual({ of: 'job-1' });
    expect(server.cancels).toStrictEqual([]);
    expect(server.posts).toHaveLength(1);
  });

  it('cancels a known id at once, and only once', async () => {
    await using server = await serveQueue({ polls: 1_000 });
    const job = endpointOf(server, { onUnsubscribe: 'cancel' }).run({});
    await firstValueFrom(job.pipe(tap(), take(3)).pipe(toArray()));
    await server.arrived('/cancel/job-1');
    expect(await firstValueFrom(job.pipe(toOutcome()))).toMatchObject({ code: 'job-cancelled' });
    expect(server.cancels).toStrictEqual(['job-1']);
  });

  it('cancels the older job when the latest wins, and buys each once', async () => {
    await using server = await serveQueue({ polls: 2 });
    const release = server.hold('/run');
    const endpoint = endpointOf(server);
    const rows = new Subject<number>();
    const result = firstValueFrom(
      rows.pipe(
        switchJobs((row) => endpoint.run({ row })),
        toOutput(),
      ),
    );
    rows.next(1);
    await server.arrived('/run');
    rows.next(2);
    release();
    await server.arrived('/cancel/');
    expect(await result).toMatchObject({ of: expect.stringMatching(/^job-[12]$/) });
    expect(server.posts).toHaveLength(2);
    expect(server.cancels).toHaveLength(1);
    expect(server.cancels).not.toContain(((await result) as { of: string }).of);
  });
});

describe('an aborted signal', () => {
  it('ends the iteration with its reason and leaves the job running', async () => {
    await using server = await serveQueue({ polls: 1_000 });
    const controller = new AbortController();
    const job = endpointOf(server).run({}, { signal: controller.signal });
    const seen: string[] = [];
    const iteration = (async () => {
      for await (const { type } of job) seen.push(type);
    })();
    await server.arrived('/status/');
    controller.abort(new Error('page closed'));
    await expect(iteration).rejects.toThrow('page closed');
    expect(seen.slice(0, 3)).toStrictEqual(['submitting', 'accepted', 'status']);
    expect(job.jobId).toBe('job-1');
    expect(server.cancels).toStrictEqual([]);
    await expect(lastValueFrom(job)).rejects.toThrow('page closed');
    expect(server.posts).toHaveLength(1);
  });

  it('that is aborted already sends nothing', async () => {
    await using server = await serveQueue();
    const job = endpointOf(server).run({}, { signal: AbortSignal.abort() });
    await expect(lastValueFrom(job)).rejects.toThrow('aborted');
    expect(server.connections()).toBe(0);
  });

  it('is listened to once, however many jobs share it', async () => {
    await using server = await serveQueue();
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    const endpoint = endpointOf(server);
    const jobs = Array.from({ length: 20 }, () => endpoint.run({}, { signal }));
    await lastValueFrom(merge(...jobs));
    expect(listeners).toBe(1);
    expect(server.posts).toHaveLength(20);
  });
});
