import { firstValueFrom, from, lastValueFrom, merge, retry, take, toArray } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../../runners/emulator/index.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import type { QueueOptions } from '../../../src/policy/queue-options.js';
import { asking } from '../../support/ask-emulator.js';
import { hurriedClock } from '../../support/hurried-clock.js';
import { bodyOf, serveHttp } from '../../support/loopback-server.js';

/** The calls that only live services have, against the emulator, which knows nothing of the client. */
describe('the calls of live services', () => {
  let emulator: Emulator;
  let failures: number;
  const queue = {
    async *count({ to }: Record<string, unknown>, job: { sleep(ms: number): Promise<void> }) {
      for (let n = 1; n <= Number(to); n += 1) {
        yield n;
        await job.sleep(3);
      }
    },
    async *broken() {
      yield 1;
      throw new Error('out of paper');
    },
    shaky: () => {
      if (failures-- > 0) throw new Error('not yet');
      return { ok: true };
    },
  };
  const start = async (options: EmulatorOptions = {}) => {
    emulator = await startEmulator({ workers: 2, functions: { queue }, ...options });
  };
  const restart = async (options: EmulatorOptions) => {
    await emulator.close();
    await start(options);
  };
  const endpoint = (id: string, options: QueueOptions = {}) =>
    createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl, random: () => 0 }).queue(id, {
      poll: pollFixed(5),
      retry: { initialMs: 1 },
      ...options,
    });
  beforeEach(() => start());
  afterEach(() => emulator.close());

  it('streams a job: each chunk once, whoever subscribes when, and one purchase', async () => {
    const count = endpoint('count');
    const job = count.run({ to: 20 });
    const chunks = count.stream(job);
    const [one, two] = await Promise.all([
      lastValueFrom(chunks.pipe(toArray())),
      lastValueFrom(chunks.pipe(toArray())),
    ]);
    expect(one).toStrictEqual(Array.from({ length: 20 }, (_, index) => index + 1));
    expect(two).toStrictEqual(one);
    expect(await lastValueFrom(chunks.pipe(toArray()))).toStrictEqual(one);
    expect(await firstValueFrom(job.pipe(toOutcome()))).toMatchObject({ status: 'completed', output: one });
    expect(emulator.bill().map(({ executions }) => executions)).toStrictEqual([1]);
  });

  it('streams on for a subscriber who left and came back', async () => {
    const count = endpoint('count');
    const chunks = count.stream(count.run({ to: 12 }));
    const first = await lastValueFrom(chunks.pipe(take(3), toArray()));
    const all = await lastValueFrom(chunks.pipe(toArray()));
    expect(first).toStrictEqual([1, 2, 3]);
    expect(all).toHaveLength(12);
  });

  it('streams by an id what is left, and loses nothing to cut replies', async () => {
    let asked = 0;
    await restart({
      faultOf: ({ operation }) =>
        operation === 'stream' && ++asked % 3 === 0 ? ['cut', 'reset-after', '502-after'][asked % 2]! : '',
    });
    const id = await asking(emulator).run('count', { to: 15 });
    const chunks = await lastValueFrom(endpoint('count').stream(id).pipe(toArray()));
    expect(chunks).toStrictEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    expect(asked).toBeGreaterThan(2);
  });

  it('streams what a job had to say before it failed, and then its failure', async () => {
    const seen: unknown[] = [];
    const broken = endpoint('broken');
    const failing = lastValueFrom(from(broken.stream(broken.run({}))).pipe(toArray()), { defaultValue: [] });
    broken.stream(await asking(emulator).run('broken', {})).subscribe({
      next: (chunk) => seen.push(chunk),
      error: () => undefined,
    });
    await expect(failing).rejects.toMatchObject({ code: 'job-failed', paid: 'no' });
    expect(seen.length).toBeLessThanOrEqual(1);
  });

  it('retries a failed job under its id: one POST, whoever subscribes', async () => {
    failures = 2;
    const shaky = endpoint('shaky');
    const failed = await firstValueFrom(shaky.run({}).pipe(toOutcome()));
    if (failed.status !== 'failed') throw new Error('it should have failed');
    const again = shaky.retry(failed.jobId!);
    const [one, two] = await Promise.all([
      firstValueFrom(again.pipe(toOutcome())),
      lastValueFrom(again.pipe(retry(3), toOutcome())),
    ]);
    expect([one, two]).toMatchObject([{ code: 'job-failed' }, { code: 'job-failed' }]);
    expect(await firstValueFrom(shaky.retry(failed.jobId!).pipe(toOutcome()))).toMatchObject({
      status: 'completed',
      jobId: failed.jobId,
      output: { ok: true },
    });
    expect(emulator.bill().map(({ id, executions }) => [id, executions])).toStrictEqual([[failed.jobId, 3]]);
  });

  it('does not send a retry again that may have been taken', async () => {
    await restart({ faultOf: ({ operation }) => (operation === 'retry' ? 'reset-after' : '') });
    failures = 1;
    const shaky = endpoint('shaky');
    const failed = await firstValueFrom(shaky.run({}).pipe(toOutcome()));
    if (failed.status !== 'failed') throw new Error('it should have failed');
    expect(await firstValueFrom(shaky.retry(failed.jobId!).pipe(toOutcome()))).toMatchObject({
      code: 'unknown',
      paid: 'maybe',
      jobId: failed.jobId,
    });
    expect(await firstValueFrom(shaky.attach(failed.jobId!).pipe(toOutcome()))).toMatchObject({
      status: 'completed',
    });
    expect(emulator.bill()[0]!.executions).toBe(2);
  });

  it('is refused a retry of a job that did not fail, or that nobody knows', async () => {
    const echo = endpoint('echo');
    const done = await firstValueFrom(echo.run({}).pipe(toOutcome()));
    expect(await firstValueFrom(echo.retry(done.jobId!).pipe(toOutcome()))).toMatchObject({
      code: 'rejected',
      paid: 'no',
      jobId: done.jobId,
      message: expect.stringContaining('cannot be retried'),
    });
    expect(await firstValueFrom(echo.retry('nobody').pipe(toOutcome()))).toMatchObject({ code: 'expired' });
  });

  it('stops a job by its policy, and drops one by its ttl', async () => {
    const echo = endpoint('echo');
    const stopped = echo.run({ sleepMs: 60_000 }, { policy: { executionTimeoutMs: 20 } });
    expect(await firstValueFrom(stopped.pipe(toOutcome()))).toMatchObject({ code: 'job-timed-out' });
    // A job that young is asked for again for a minute.
    const scheduler = hurriedClock(200);
    const hurried = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl, scheduler });
    const dropped = hurried
      .queue('echo', { poll: pollFixed(1_000, scheduler) })
      .run({ sleepMs: 60_000 }, { policy: { ttlMs: 20 } });
    expect(await firstValueFrom(dropped.pipe(toOutcome()))).toMatchObject({ code: 'expired', paid: 'maybe' });
  });

  it('has the end told to a webhook, without the key', async () => {
    let reported: (text: string) => void;
    const reporting = new Promise<string>((resolve) => (reported = resolve));
    await using hook = await serveHttp((request, response) => {
      void bodyOf(request).then((body) => {
        reported(JSON.stringify(request.headers) + body);
        response.end();
      });
    });
    const outcome = await firstValueFrom(
      endpoint('echo')
        .runSync({ a: 1 }, { webhook: `${hook.url}/done` })
        .pipe(toOutcome()),
    );
    const text = await reporting;
    expect(text).toContain(outcome.jobId!);
    expect(text).not.toContain(emulator.apiKey);
  });

  it('takes up a job that /runsync did not wait for, and waits for one by /status-sync', async () => {
    const echo = endpoint('echo');
    const job = echo.runSync({ sleepMs: 60_000 }, { waitMs: 1_000 });
    const seen: string[] = [];
    for await (const { type } of job) {
      seen.push(type);
      if (type === 'accepted') void job.cancel();
    }
    expect(seen.slice(0, 2)).toStrictEqual(['submitting', 'accepted']);
    expect(job.statusCalls).toBeGreaterThan(0);
    const id = await asking(emulator).run('echo', { sleepMs: 30 });
    expect(await firstValueFrom(echo.status(id, { waitMs: 10_000 }))).toMatchObject({ status: 'COMPLETED' });
  });

  it('watches the health, and purges what waits', async () => {
    const echo = endpoint('echo');
    const jobs = [1, 2, 3, 4].map(() => echo.run({ sleepMs: 60_000 }));
    const outcomes = merge(...jobs.map((job) => job.pipe(toOutcome()))).pipe(take(2), toArray());
    const cancelled = lastValueFrom(outcomes);
    await asking(emulator).until('echo', { inProgress: 2, inQueue: 2 });
    const healths = await lastValueFrom(echo.watchHealth({ everyMs: 1 }).pipe(take(3), toArray()));
    expect(healths.map(({ jobs: counts }) => counts?.inQueue)).toStrictEqual([2, 2, 2]);
    expect(await firstValueFrom(echo.purgeQueue())).toMatchObject({ removed: 2 });
    expect(await cancelled).toMatchObject([{ code: 'job-cancelled' }, { code: 'job-cancelled' }]);
  });
});
