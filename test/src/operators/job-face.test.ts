import { inspect } from 'node:util';
import {
  EMPTY,
  firstValueFrom,
  map,
  NEVER,
  Subject,
  take,
  tap,
  throwError,
  toArray,
  type Observable,
} from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import {
  createBudget,
  createClient,
  createLanes,
  chainJob,
  pullJobs,
  retryPurchase,
  toOutput,
  withinBudget,
  withinLane,
  type CheckpointEvent,
  type Job,
  type JobEvent,
  type QueueFailureCode,
} from '../../../src/index.js';
import { clientOver, finished } from '../../support/client-over.js';
import { scriptedClient } from '../../support/scripted-client.js';
import { replied } from '../../support/virtual-time.js';

const running = { id: 'a', status: 'IN_PROGRESS' };
const failingAt = (kind: string) => (event: CheckpointEvent<unknown>) =>
  event.type === kind ? throwError(() => new Error('ENOSPC')) : EMPTY;

describe('one call is one line', () => {
  it('output() and outcome() buy once, together', async () => {
    const { client, sent } = clientOver();
    const job = client.queue<{ text: string }, { text: string }>('echo').runSync({ text: 'hello' });
    expect(await job.output()).toStrictEqual({ text: 'hello' });
    expect(await job.outcome()).toMatchObject({ status: 'completed', jobId: 'j' });
    expect(sent).toHaveLength(1);
  });

  it('output() rejects where outcome() is a failure', async () => {
    const { client } = clientOver(() => replied(400, { error: 'no picture' }));
    const job = client.queue('echo').run({ text: 'hello' });
    expect(await job.outcome()).toMatchObject({ status: 'failed', code: 'rejected', paid: 'no' });
    await expect(job.output()).rejects.toMatchObject({ name: 'JobError', code: 'rejected' });
  });

  it('await job rejects, says what to await, and buys nothing', async () => {
    const { client, sent } = clientOver();
    const misused = async () => {
      // eslint-disable-next-line @typescript-eslint/await-thenable -- as somebody would without types
      await (client.queue('echo').run({ text: 'hello' }) as unknown as { n: 1 });
    };
    await expect(misused()).rejects.toThrow('await job.outcome() or job.output()');
    expect(sent).toHaveLength(0);
  });

  it('run() reads its input when it is called', async () => {
    const { client, sent } = clientOver();
    for (const input of [undefined, z.object({ n: z.number() })]) {
      const row = { n: 1 };
      const job = client.queue('echo', { input }).runSync(row);
      row.n = 2;
      await job.outcome();
    }
    expect(sent.map(({ body }) => body)).toStrictEqual(['{"input":{"n":1}}', '{"input":{"n":1}}']);
  });
});

describe('cancel() is awaited', () => {
  it('until the service has answered: the job ends without another poll', async () => {
    const { client, answer, paths } = scriptedClient();
    const job = client.queue('edit').run({});
    const outcome = job.outcome();
    answer('/run', running);
    const cancelled = job.cancel();
    answer('/cancel/a', { id: 'a', status: 'CANCELLED' });
    expect(await cancelled).toMatchObject({ code: 'job-cancelled', paid: 'no', jobId: 'a' });
    expect(await outcome).toMatchObject({ code: 'job-cancelled' });
    expect(paths).toStrictEqual(['/v2/edit/run', '/v2/edit/cancel/a']);
  });

  it('also before the reply to the POST, and of a job that nobody follows any more', async () => {
    const { client, answer } = scriptedClient();
    const job = client.queue('edit').run({});
    const subscription = job.subscribe();
    const cancelled = job.cancel();
    subscription.unsubscribe();
    answer('/run', running);
    answer('/cancel/a', { id: 'a', status: 'CANCELLED' });
    expect(await cancelled).toMatchObject({ code: 'job-cancelled', jobId: 'a' });
  });

  it('and sends nothing before the POST', async () => {
    const { client, paths } = scriptedClient();
    const job = client.queue('edit').run({});
    expect(await job.cancel()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(await job.outcome()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(paths).toStrictEqual([]);
  });

  it('resolves to undefined where the answer is no end: the job has completed meanwhile', async () => {
    const { client, answer } = scriptedClient({}, (path) =>
      path.includes('/cancel/') ? { id: 'a', status: 'COMPLETED' } : undefined,
    );
    const job = client.queue('edit').run({});
    const subscription = job.subscribe();
    answer('/run', running);
    expect(await job.cancel()).toBeUndefined();
    subscription.unsubscribe();
  });

  it('also of a job that was left, and whose POST is then refused', async () => {
    const { client, answer, paths } = scriptedClient();
    const job = client.queue('edit').run({});
    const subscription = job.subscribe();
    const cancelled = job.cancel();
    subscription.unsubscribe();
    answer('/run', {}, 429);
    expect(await cancelled).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(await job.outcome()).toMatchObject({ code: 'job-cancelled' });
    expect(paths).toStrictEqual(['/v2/edit/run']);
  });

  it('within the notification that its POST leaves: it is not sent', async () => {
    const { client, sent } = clientOver();
    const budget = createBudget(1);
    const events: CheckpointEvent<unknown>[] = [];
    const checkpoint = (event: CheckpointEvent<unknown>) => (events.push(event), EMPTY);
    const job: Job<unknown> = client.queue('edit').run({}, { checkpoint }).pipe(withinBudget(budget, 1));
    const outcome = job.pipe(tap(({ type }) => type === 'submitting' && void job.cancel())).pipe(toArray());
    expect((await firstValueFrom(outcome)).map(({ type }) => type)).toStrictEqual(['submitting', 'settled']);
    expect(await job.outcome()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(events.map(({ type }) => type)).toStrictEqual(['intent', 'refused', 'settled']);
    expect(budget.state()).toMatchObject({ reservedUsd: 0, unknownUsd: 0, spentUsd: 0 });
    expect(sent).toStrictEqual([]);
  });

  it('by leaving within that notification, where leaving cancels: a later subscriber buys it', async () => {
    const { client, sent } = clientOver();
    const budget = createBudget(1);
    const job = client.queue('edit', { onUnsubscribe: 'cancel' }).run({}).pipe(withinBudget(budget, 1));
    expect(await firstValueFrom(job)).toMatchObject({ type: 'submitting' });
    expect(budget.state()).toMatchObject({ reservedUsd: 0, unknownUsd: 0 });
    expect(sent).toStrictEqual([]);
    expect(await job.outcome()).toMatchObject({ status: 'completed' });
    expect(sent).toHaveLength(1);
  });

  it('while the schema of its input does not answer, or until its deadline', async () => {
    const { client, sent } = clientOver();
    const never = z.string().refine(() => new Promise<boolean>(() => undefined));
    const edit = client.queue('edit', { input: z.object({ text: never }) });
    const job = edit.run({ text: 'a' });
    const outcome = job.outcome();
    expect(await job.cancel()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(await outcome).toMatchObject({ code: 'job-cancelled' });
    const late = await edit.run({ text: 'a' }, { deadlineMs: 20 }).outcome();
    expect(late).toMatchObject({ code: 'refused', message: 'edit: not sent: its deadline passed' });
    expect(sent).toStrictEqual([]);
  });

  it('by a listener of activity$: the end stays the last event for all who subscribe later', async () => {
    const waits = new Subject<{ why: 'gate'; forMs: number }>();
    const gate = { admit: () => waits, observe: () => undefined };
    const { client, sent } = clientOver(undefined, { gate });
    const job = client.queue('edit').run({});
    client.activity$.subscribe(({ type }) => type === 'waiting' && void job.cancel());
    const events = firstValueFrom(job.pipe(toArray()));
    waits.next({ why: 'gate', forMs: 5 });
    expect((await events).map(({ type }) => type)).toStrictEqual(['settled']);
    expect(await job.outcome()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(sent).toStrictEqual([]);
  });

  it.each(['its notification', 'a refusal'])(
    'keeps no price of a job that waits after %s: it was not sent',
    (when) => {
      const { client } = clientOver(() => replied(429, {}), {
        gate: { admit: () => waits, observe: () => undefined },
      });
      let waits: Observable<never> = EMPTY;
      const budget = createBudget(1);
      const onUnsubscribe = when === 'a refusal' ? 'detach' : 'cancel';
      const job = client.queue('edit', { onUnsubscribe }).run({}).pipe(withinBudget(budget, 1));
      job.pipe(take(1)).subscribe();
      expect(budget.state()).toMatchObject({ reservedUsd: 0, unknownUsd: 0 });
      waits = NEVER;
      const seen: string[] = [];
      job.subscribe(({ type }) => seen.push(type)).unsubscribe();
      expect(budget.state()).toMatchObject({ reservedUsd: 0, unknownUsd: 0 });
      expect(seen).not.toContain('submitting');
    },
  );

  it('and asks again where the answer before was no end', async () => {
    for (const onUnsubscribe of ['detach', 'cancel'] as const) {
      const { client, answer, paths } = scriptedClient();
      const job = client.queue('edit', { onUnsubscribe, retry: { maxRetries: 0 } }).run({});
      const subscription = job.subscribe();
      answer('/run', running);
      const first = onUnsubscribe === 'detach' ? job.cancel() : subscription.unsubscribe();
      answer('/cancel/a', {}, 500);
      expect(await first).toBeUndefined();
      const cancelled = job.cancel();
      answer('/cancel/a', { id: 'a', status: 'CANCELLED' });
      expect(await cancelled).toMatchObject({ code: 'job-cancelled', jobId: 'a' });
      expect(paths).toStrictEqual(['/v2/edit/run', '/v2/edit/cancel/a', '/v2/edit/cancel/a']);
      subscription.unsubscribe();
    }
  });

  it('of a job whose checkpoint has failed: what runs at the service is cancelled all the same', async () => {
    const { client, answer, paths } = scriptedClient();
    const job = client.queue('edit').run({}, { checkpoint: failingAt('accepted') });
    const outcome = job.outcome();
    answer('/run', running);
    await expect(outcome).rejects.toThrow('ENOSPC');
    const cancelled = job.cancel();
    answer('/cancel/a', { id: 'a', status: 'CANCELLED' });
    expect(await cancelled).toMatchObject({ code: 'job-cancelled', jobId: 'a' });
    await expect(job.outcome()).rejects.toThrow('ENOSPC');
    expect(paths).toStrictEqual(['/v2/edit/run', '/v2/edit/cancel/a']);
  });

  it('of a job whose end could not be written, or whose refusal: there is nothing to cancel', async () => {
    for (const [failing, status, reply] of [
      ['settled', 200, { id: 'a', status: 'COMPLETED' }],
      ['refused', 429, {}],
    ] as const) {
      const { client, answer, paths } = scriptedClient();
      const job = client.queue('edit').run({}, { checkpoint: failingAt(failing) });
      const outcome = job.outcome();
      answer('/run', reply, status);
      await expect(outcome).rejects.toThrow('ENOSPC');
      expect(await job.cancel()).toBeUndefined();
      expect(paths).toStrictEqual(['/v2/edit/run']);
    }
  });

  it('of a chain and of a retried purchase: the job under way', async () => {
    const { client, answer } = scriptedClient();
    const edits = client.queue('edit');
    const jobs = {
      a: edits.run({}).pipe(chainJob(() => edits.run({}))),
      b: retryPurchase(() => edits.run({}), { maxRetries: 1, codes: [] }),
    };
    for (const [id, job] of Object.entries(jobs)) {
      const outcome = job.outcome();
      answer('/run', { id, status: 'IN_PROGRESS' });
      const cancelled = job.cancel();
      answer(`/cancel/${id}`, { id, status: 'CANCELLED' });
      expect(await cancelled).toMatchObject({ code: 'job-cancelled', jobId: id });
      expect(await outcome).toMatchObject({ code: 'job-cancelled' });
    }
  });
});

describe('cancel() of a job that waits, or that nobody has subscribed to', () => {
  it('ends one that waits for its lane at once, and sends nothing', async () => {
    const { client, paths } = scriptedClient();
    const edits = client.queue('edit');
    const lanes = createLanes({ slots: 1 });
    const inLane = withinLane<unknown>(lanes, 'a');
    const first = inLane(edits.run({})).subscribe();
    const chained = edits.run({}).pipe(chainJob(() => edits.run({})));
    const budget = createBudget(1);
    for (const job of [edits.run({}).pipe(inLane), chained.pipe(inLane, withinBudget(budget, 0.1))]) {
      const outcome = job.outcome();
      expect(lanes.state()).toStrictEqual({ a: { held: 1, waiting: 1 } });
      expect(await job.cancel()).toMatchObject({ code: 'job-cancelled' });
      expect(await outcome).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    }
    expect(lanes.state()).toStrictEqual({ a: { held: 1, waiting: 0 } });
    expect(budget.state()).toMatchObject({ reservedUsd: 0, spentUsd: 0, unknownUsd: 0 });
    expect(paths).toStrictEqual(['/v2/edit/run']);
    first.unsubscribe();
  });

  it('resolves to the end of a retried purchase', async () => {
    const { client, paths } = scriptedClient();
    const job = retryPurchase(() => client.queue('edit').run({}), {
      maxRetries: 1,
      codes: ['job-cancelled'],
    });
    expect(await job.cancel()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(await job.outcome()).toMatchObject({ code: 'job-cancelled' });
    expect(paths).toStrictEqual([]);
  });
});

describe('a job behind another object, as the state of a user interface keeps it', () => {
  it.each<[string, <J extends object>(job: J) => J]>([
    ['a proxy', (job) => new Proxy(job, {})],
    ['an object that inherits from it', (job) => Object.create(job) as typeof job],
  ])('%s: is subscribed as the job itself, and bought once', async (_, behind) => {
    const { client, sent } = clientOver();
    const job = client.queue<{ text: string }, { text: string }>('echo').runSync({ text: 'hello' });
    const events: JobEvent<{ text: string }>[] = [];
    behind(job).subscribe((event) => events.push(event));
    expect(await behind(job).output()).toStrictEqual({ text: 'hello' });
    expect(events.map(({ type }) => type)).toStrictEqual(['submitting', 'settled']);
    expect(sent).toHaveLength(1);
  });
});

describe('what is logged', () => {
  it('of a job, of what operators make of it, and of an endpoint shows neither key nor client', () => {
    const { client } = scriptedClient({ apiKey: 'a-key-that-is-secret' });
    const edits = client.queue('edit');
    const job = edits.run({ a: 1 });
    const shown = [client, edits, client.routes('https://lb.example').get('a'), job];
    for (const value of [...shown, job.pipe(withinBudget(createBudget(1), 0.1)), edits.stream(job)])
      expect(inspect(value, { depth: Infinity, showHidden: true })).not.toContain('a-key-that-is-secret');
    expect(JSON.stringify({ job, edits })).toBe('{"job":{},"edits":{"id":"edit"}}');
  });
});

describe('operators keep the job', () => {
  it('through pipe, with its types', () => {
    const { client } = clientOver(finished);
    const job = client.queue<{ a: number }, { b: string }>('sum').run({ a: 1 });
    const kept = job.pipe(withinBudget(createBudget(1), 0.1), withinLane(createLanes({ slots: 1 }), 'sum'));
    expectTypeOf(kept).toEqualTypeOf<Job<{ b: string }>>();
    expect([kept.jobId, kept.key]).toStrictEqual([undefined, job.key]);
    const next = job.pipe(
      withinBudget(createBudget(1), 0.1),
      chainJob(({ b }) => client.queue<{ a: number }, number>('sum').run({ a: b.length })),
    );
    expectTypeOf(next).toEqualTypeOf<Job<number>>();
    const events = job.pipe(
      tap((event) => expectTypeOf(event).toEqualTypeOf<JobEvent<{ b: string }>>()),
      toArray(),
    );
    expectTypeOf(firstValueFrom(events)).resolves.toEqualTypeOf<JobEvent<{ b: string }>[]>();
    const six = job.pipe(
      tap(),
      tap(),
      tap(),
      tap(),
      toOutput(),
      map(({ b }) => b),
    );
    expectTypeOf(six).toEqualTypeOf<Observable<string>>();
    const nine = job.pipe(
      tap(),
      tap(),
      tap(),
      tap(),
      tap(),
      tap(),
      tap(),
      toOutput(),
      map(({ b }) => b),
    );
    expectTypeOf(nine).toEqualTypeOf<Observable<string>>();
  });

  it('and codes are those of the kind of call', () => {
    type CodeOf<J> = J extends Job<unknown, infer C> ? C : never;
    const { client } = clientOver(finished);
    const runs = client.queue('sum').run({});
    expectTypeOf<CodeOf<typeof runs>>().toEqualTypeOf<QueueFailureCode>();
    expectTypeOf<Extract<CodeOf<typeof runs>, 'route-failed' | 'download'>>().toBeNever();
    const gets = client.routes('https://lb.example.test').get('/x');
    expectTypeOf<Extract<CodeOf<typeof gets>, 'unknown' | 'deadline'>>().toBeNever();
    expect([runs.jobId, gets.jobId]).toStrictEqual([undefined, '']);
  });
});

describe('an option that is wrong', () => {
  const { client } = clientOver(finished);
  const echo = client.queue('echo');
  const job = () => echo.run({});
  it.each<[string, () => unknown]>([
    ['apiKEY', () => createClient({ apiKEY: 'k' } as never)],
    ['transport', () => createClient({ transport: 'got' as never })],
    ['gate', () => createClient({ gate: {} as never })],
    ['scheduler', () => createClient({ scheduler: 7 as never })],
    ['deadlineMS', () => echo.run({}, { deadlineMS: 1 } as never)],
    ['waitMs', () => echo.runSync({}, { waitMs: 1 })],
    ['concurrency', () => pullJobs([1], job, {} as never)],
    ['onError', () => pullJobs([1], job, { concurrency: 1, onError: 'ignore' as never })],
  ])('%s throws InvalidOptionError at once', (option, call) => {
    expect(call).toThrow(expect.objectContaining({ name: 'InvalidOptionError', option }));
  });

  it('and an answer of another shape is no ZodError', async () => {
    const strange = clientOver(() => replied(200, [])).client.queue('echo');
    await expect(firstValueFrom(strange.health())).rejects.toMatchObject({ name: 'MalformedReplyError' });
    await expect(firstValueFrom(strange.purgeQueue())).rejects.toMatchObject({ name: 'MalformedReplyError' });
  });
});

describe('lanes', () => {
  it('without work are forgotten', () => {
    const lanes = createLanes({ slots: 2 });
    const back = Array.from({ length: 1_000 }, (_, n) => lanes.take(`customer-${n}`, () => undefined));
    for (const giveBack of back) giveBack();
    expect(lanes.state()).toStrictEqual({});
  });
});

describe('stream(job) twice', () => {
  it('gives both readers all chunks', async () => {
    let asked = 0;
    const { client } = clientOver((path) => {
      if (path.endsWith('/run')) return replied(200, { id: 'j', status: 'IN_QUEUE' });
      if (!path.includes('/stream/'))
        return replied(200, { id: 'j', status: 'COMPLETED', output: ['a', 'b'] });
      asked += 1;
      return replied(200, {
        status: 'COMPLETED',
        stream: asked === 1 ? [{ output: 'a' }, { output: 'b' }] : [],
      });
    });
    const echo = client.queue('echo');
    const job = echo.run({});
    const readers = [echo.stream(job), echo.stream(job)].map((chunks) =>
      firstValueFrom(chunks.pipe(toArray())),
    );
    expect(await Promise.all(readers)).toStrictEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
  });
});
