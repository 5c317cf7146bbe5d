import { lastValueFrom, of, type Observable } from 'rxjs';
import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import {
  createBudget,
  createClient,
  createLanes,
  iterate,
  mergeJobs,
  pullJobs,
  retryPurchase,
  switchJobs,
  chainJob,
  toOutcome,
  toOutput,
  untilAborted,
  withinBudget,
  withinLane,
  type Health,
  type ImageEditInput,
  type ImageEditOutput,
  type Job,
  type JobEvent,
  type JobPolicy,
  type JobReply,
  type Outcome,
  type PulledJobs,
  type Purged,
  type QueueEndpoint,
  type QueueFailureCode,
  type RouteGetFailureCode,
  type RoutePostFailureCode,
  type StandardSchema,
  type SubmitOptions,
  type SyncJob,
  type SyncOptions,
} from '../../../src/index.js';
import { replied } from '../../support/virtual-time.js';

declare module '../../../src/index.js' {
  interface EndpointTypes {
    upscale: { input: { url: string }; output: { url: string; scale: number } };
    describe: { output: { text: string } };
    narrate: { input: { text: string }; output: string[]; chunk: string };
  }
}

const reply = replied(200, { id: 'j', status: 'COMPLETED', output: { url: 'b', scale: 2 } });
const client = createClient({ baseUrl: 'https://api.example.test', transport: () => of(reply) });
const input = z.object({ n: z.coerce.number<number | string>(), mode: z.enum(['a', 'b']).default('a') });
const output = z.object({ at: z.string().transform((text) => text.length) });

describe('types of an endpoint', () => {
  it('come from its schemas: what is given is their input, what is emitted their output', () => {
    const endpoint = client.queue('anything', { input, output });
    expectTypeOf(endpoint.run)
      .parameter(0)
      .toEqualTypeOf<{ n: number | string; mode?: 'a' | 'b' | undefined }>();
    expectTypeOf(endpoint.run({ n: '1' })).toEqualTypeOf<Job<{ at: number }, QueueFailureCode>>();
    expectTypeOf(endpoint.run({ n: 1 }).pipe(toOutcome())).toEqualTypeOf<
      Observable<Outcome<{ at: number }>>
    >();
    expectTypeOf(endpoint.runSync({ n: 1 }).pipe(toOutput())).toEqualTypeOf<Observable<{ at: number }>>();
    expectTypeOf(endpoint.attach('j')).toEqualTypeOf<Job<{ at: number }, QueueFailureCode>>();
    // @ts-expect-error -- n is not a boolean
    expect(endpoint.run({ n: true }).jobId).toBeUndefined();
  });

  it('come from any Standard Schema', () => {
    const text: StandardSchema<unknown, string> = {
      '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: String(value) }) },
    };
    expectTypeOf(client.queue('anything', { output: text }).run({})).toEqualTypeOf<
      Job<string, QueueFailureCode>
    >();
  });

  it('come from the endpoint id where there is no schema', () => {
    expectTypeOf(client.queue('upscale')).toEqualTypeOf<
      QueueEndpoint<{ url: string }, { url: string; scale: number }>
    >();
    expectTypeOf(client.queue('describe')).toEqualTypeOf<QueueEndpoint<unknown, { text: string }>>();
    expectTypeOf(client.queue('upscale', { output })).toEqualTypeOf<
      QueueEndpoint<{ url: string }, { at: number }>
    >();
    expectTypeOf(client.queue('upscale').run({ url: 'x' }).pipe(toOutput())).toEqualTypeOf<
      Observable<{ url: string; scale: number }>
    >();
  });

  it('of chunks come from the endpoint id, and go through the operators', () => {
    const narrate = client.queue('narrate');
    expectTypeOf(narrate).toEqualTypeOf<QueueEndpoint<{ text: string }, string[], string>>();
    expectTypeOf(narrate.stream('j')).toEqualTypeOf<Observable<string>>();
    expectTypeOf(narrate.stream(narrate.run({ text: 'a' }))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(narrate.retry('j')).toEqualTypeOf<Job<string[], QueueFailureCode>>();
    expectTypeOf(client.queue('upscale').stream('j')).toEqualTypeOf<Observable<unknown>>();
    // @ts-expect-error -- a job of another endpoint has another output
    expect(() => narrate.stream(client.queue('upscale').run({ url: 'x' }))).not.toThrow();
  });

  it('are unknown where nothing is known', () => {
    expectTypeOf(client.queue('other')).toEqualTypeOf<QueueEndpoint<unknown, unknown>>();
    const name: string = 'upscale';
    expectTypeOf(client.queue(name)).toEqualTypeOf<QueueEndpoint<unknown, unknown>>();
  });

  it('are those of the specification on an image-edit endpoint', () => {
    expectTypeOf(client.imageEdit('edit')).toEqualTypeOf<QueueEndpoint<ImageEditInput, ImageEditOutput>>();
  });

  it('come from a schema, or from what is asked for, on a route', () => {
    const lb = client.routes('https://lb.example.test');
    expectTypeOf(lb.get('info')).toEqualTypeOf<SyncJob<unknown, RouteGetFailureCode>>();
    expectTypeOf(lb.get<{ a: 1 }>('info')).toEqualTypeOf<SyncJob<{ a: 1 }, RouteGetFailureCode>>();
    expectTypeOf(lb.post('x', {}, { output })).toEqualTypeOf<SyncJob<{ at: number }, RoutePostFailureCode>>();
  });

  it('of what goes beside an input are named, with their units', () => {
    const endpoint = client.queue('other');
    expectTypeOf(endpoint.run).parameter(1).toEqualTypeOf<SubmitOptions | undefined>();
    expectTypeOf(endpoint.runSync).parameter(1).toEqualTypeOf<SyncOptions | undefined>();
    expectTypeOf<SyncOptions>().toExtend<{ waitMs?: number; policy?: JobPolicy; webhook?: string }>();
    // @ts-expect-error -- /run does not wait
    expect(endpoint.run({}, { waitMs: 1_000 }).jobId).toBeUndefined();
  });

  it('of status, cancel and health are what the service says', () => {
    const endpoint = client.queue('other');
    expectTypeOf(endpoint.status('j')).toEqualTypeOf<Observable<JobReply>>();
    expectTypeOf(endpoint.cancel('j')).toEqualTypeOf<Observable<JobReply>>();
    expectTypeOf(endpoint.health()).toEqualTypeOf<Observable<Health>>();
    expectTypeOf(endpoint.watchHealth()).toEqualTypeOf<Observable<Health>>();
    expectTypeOf(endpoint.purgeQueue()).toEqualTypeOf<Observable<Purged>>();
  });
});

describe('types go through the operators', () => {
  const endpoint = client.queue('upscale');
  type Upscaled = { url: string; scale: number };

  it('of a fan-out', () => {
    const rows = [{ url: 'a', note: 1 }];
    const pulled = pullJobs(rows, (row) => endpoint.run(row).pipe(withinBudget(createBudget(1), 0.1)), {
      concurrency: 2,
    });
    type Row = { row: { url: string; note: number }; index: number; outcome: Outcome<Upscaled> };
    expectTypeOf(pulled).toEqualTypeOf<PulledJobs<{ url: string; note: number }, Upscaled>>();
    expectTypeOf(pulled).toExtend<Observable<Row>>();
    expectTypeOf(pulled).toExtend<AsyncIterable<Row>>();
    const merged = of('a', 'b').pipe(mergeJobs((url) => endpoint.run({ url }), { concurrency: 2 }));
    expectTypeOf(merged).toEqualTypeOf<Observable<{ row: string; outcome: Outcome<Upscaled> }>>();
    const switched = of('a').pipe(
      switchJobs((url) => endpoint.run({ url })),
      toOutput(),
    );
    expectTypeOf(switched).toEqualTypeOf<Observable<Upscaled>>();
    // @ts-expect-error -- it has no id that could be cancelled while its POST is on the wire
    expect(switchJobs((url: string) => endpoint.runSync({ url }))).toBeDefined();
    const budget = createBudget(1);
    const lanes = createLanes({ slots: 1 });
    // @ts-expect-error -- nor has it within a budget
    expect(switchJobs((url: string) => withinBudget(budget, 0.1)(endpoint.runSync({ url })))).toBeDefined();
    const called = (url: string) =>
      endpoint.run({ url }).pipe(withinLane(lanes, 'x'), withinBudget(budget, 1));
    expectTypeOf(called('a')).toEqualTypeOf<Job<Upscaled>>();
    expect(switchJobs(called)).toBeDefined();
    expectTypeOf(withinBudget<Upscaled>(budget, 1)(endpoint.run({ url: 'a' }))).toEqualTypeOf<
      Job<Upscaled>
    >();
    const lb = client.routes('https://lb.example.test');
    // @ts-expect-error -- nor has a route ever
    expect(switchJobs((url: string) => lb.post('upscale', { url }))).toBeDefined();
    expectTypeOf(pullJobs(['a'], (url) => endpoint.runSync({ url }), { concurrency: 1 })).toEqualTypeOf<
      PulledJobs<string, Upscaled>
    >();
    const again = retryPurchase(() => endpoint.run({ url: 'a' }), { maxRetries: 1, codes: ['job-failed'] });
    expectTypeOf(again).toEqualTypeOf<Job<Upscaled>>();
  });

  it('of a pipeline, a share, a signal and an iteration', () => {
    const describe = client.queue('describe');
    const piped = describe.run({}).pipe(
      withinLane(createLanes({ slots: 1 }), 'describe'),
      chainJob(({ text }) => endpoint.run({ url: text })),
      untilAborted(new AbortController().signal),
    );
    expectTypeOf(piped).toEqualTypeOf<Observable<JobEvent<Upscaled>>>();
    expectTypeOf(iterate(piped.pipe(toOutput()))).toExtend<AsyncIterable<Upscaled>>();
    expect(piped).toBeDefined();
  });

  it('of a loop and of a promise', async () => {
    expectTypeOf(endpoint.run({ url: 'a' })).toExtend<AsyncIterable<JobEvent<Upscaled>>>();
    const upscaled = lastValueFrom(endpoint.run({ url: 'a' }).pipe(toOutput()));
    expectTypeOf(upscaled).resolves.toEqualTypeOf<Upscaled>();
    expect(await upscaled).toStrictEqual({ url: 'b', scale: 2 });
  });

  it('narrow by status', () => {
    const outcome = {} as Outcome<Upscaled>;
    if (outcome.status === 'completed') expectTypeOf(outcome.output).toEqualTypeOf<Upscaled>();
    else expectTypeOf(outcome.paid).toEqualTypeOf<'no' | 'maybe' | 'yes'>();
    expect(outcome).toStrictEqual({});
  });
});
