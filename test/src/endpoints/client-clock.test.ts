import assert from 'node:assert/strict';
import { describe, expect, it } from 'vitest';
import {
  adaptiveConcurrency,
  adaptiveGate,
  pollExponential,
  pollFixed,
  pollLearned,
  openGate,
  publishedGate,
  pullJobs,
  rateGate,
  toOutcome,
  type Gate,
  type PollSchedule,
} from '../../../src/index.js';
import { inVirtualTime, type TestServiceOptions } from '../../../src/testing.js';

const equal = (actual: unknown, expected: unknown) => assert.deepEqual(actual, expected);
const kinds = { submit: 1, poll: 1, cancel: 1, other: 1 };

/** Buys three jobs by a client that alone was given a clock, and lets all of its time pass: when requests left, and what the jobs output. */
function played(parts: { gate?: Gate; poll?: PollSchedule }, options: TestServiceOptions = {}, key?: string) {
  const sentAt: number[] = [];
  const outputs: unknown[] = [];
  inVirtualTime(equal, ({ createService, createClient, flush, scheduler }) => {
    const service = createService({
      runMs: () => 5_000,
      run: (input) => input,
      ...options,
      fault: (request) => (sentAt.push(scheduler.frame), options.fault?.(request)),
    });
    const { gate, poll } = parts;
    const endpoint = createClient(service, gate && { gate }).queue('e', poll && { poll });
    for (const n of [1, 2, 3])
      endpoint
        .run({ n }, key === undefined ? {} : { key })
        .pipe(toOutcome())
        .subscribe((outcome) => outputs.push(outcome.status === 'completed' && outcome.output));
    flush();
  });
  return { sentAt, outputs };
}

const all = [{ n: 1 }, { n: 2 }, { n: 3 }];

describe('the scheduler of a client is that of', () => {
  it.each<[string, () => Gate, number]>([
    ['openGate', () => openGate(), 0],
    ['rateGate', () => rateGate(1), 1_000],
    ['publishedGate', () => publishedGate(kinds), 1_000],
    ['adaptiveGate', () => adaptiveGate(), 0],
  ])('its gate: %s', (_, gate, apartMs) => {
    const { sentAt, outputs } = played({ gate: gate(), poll: pollFixed(10_000) });
    expect(outputs).toStrictEqual(all);
    expect(sentAt.slice(0, 3)).toStrictEqual([0, apartMs, 2 * apartMs]);
  });

  it.each<[string, () => Gate]>([
    ['openGate', () => openGate()],
    ['rateGate', () => rateGate(100)],
    ['adaptiveGate', () => adaptiveGate()],
  ])('a wait after refusals: %s', (_, gate) => {
    const fault = ({ count }: { count: number }) => (count <= 12 ? ('refused' as const) : undefined);
    const { sentAt, outputs } = played({ gate: gate(), poll: pollFixed(10_000) }, { fault });
    expect(outputs).toHaveLength(3);
    expect(sentAt.at(-1)).toBeGreaterThan(1_000);
  });

  it.each<[string, () => PollSchedule]>([
    ['pollFixed', () => pollFixed(1_000)],
    ['pollExponential', () => pollExponential()],
    ['pollLearned', () => pollLearned()],
  ])('its poll schedule: %s', (_, poll) => {
    const { sentAt, outputs } = played({ poll: poll() });
    expect(new Set(outputs.map((output) => (output as { n: number }).n))).toStrictEqual(new Set([1, 2, 3]));
    expect(sentAt.at(-1)).toBeGreaterThanOrEqual(5_000);
  });

  it('a limit that finds the concurrency out, where both are given it', () => {
    inVirtualTime(equal, ({ createService, createClient, flush, scheduler }) => {
      const service = createService({ runMs: () => 1_000 });
      const endpoint = createClient(service).queue('e', { poll: pollFixed(1_000) });
      const concurrency = adaptiveConcurrency({ scheduler }).limit$;
      const ended: number[] = [];
      pullJobs([1, 2, 3, 4, 5, 6, 7, 8, 9], (n) => endpoint.run(n), { concurrency }).subscribe(() =>
        ended.push(scheduler.frame),
      );
      flush();
      expect(ended).toHaveLength(9);
    });
  });
});

describe('a key need not be unique', () => {
  it.each<[string, () => { gate?: Gate; poll: PollSchedule }]>([
    ['pollFixed', () => ({ poll: pollFixed(1_000) })],
    ['pollExponential', () => ({ poll: pollExponential() })],
    ['pollLearned', () => ({ poll: pollLearned() })],
    ['behind a rate', () => ({ poll: pollFixed(1_000), gate: rateGate(10) })],
  ])('three jobs of one key have each its own output: %s', (_, parts) => {
    const { outputs } = played(parts(), {}, 'k');
    expect(new Set(outputs.map((output) => (output as { n: number }).n))).toStrictEqual(new Set([1, 2, 3]));
  });

  it('two that poll one job both see its end: learned', () => {
    inVirtualTime(equal, ({ createService, createClient, flush }) => {
      const service = createService({ runMs: () => 7_000 });
      const endpoint = createClient(service).queue('e', { poll: pollLearned(), deadlineMs: 600_000 });
      endpoint.run({}).subscribe();
      flush();
      const ended: string[] = [];
      for (const job of [endpoint.run({}), endpoint.attach('job-2'), endpoint.attach('job-2')])
        job.pipe(toOutcome()).subscribe(({ status }) => ended.push(status));
      flush();
      expect(ended).toStrictEqual(['completed', 'completed', 'completed']);
    });
  });

  it('also of jobs that are called back', () => {
    inVirtualTime(equal, ({ createService, createClient, flush, scheduler }) => {
      const runMs = (input: unknown) => (input as { ms: number }).ms;
      const service = createService({ runMs, run: (input) => input });
      const endpoint = createClient(service).queue('e', {
        webhooks: service.webhooks,
        poll: pollFixed(50_000),
      });
      const ended: [unknown, number][] = [];
      for (const ms of [3_000, 1_000, 2_000])
        endpoint
          .run({ ms }, { key: 'k' })
          .pipe(toOutcome())
          .subscribe((outcome) =>
            ended.push([outcome.status === 'completed' && outcome.output, scheduler.frame]),
          );
      flush();
      expect(ended).toStrictEqual([1_000, 2_000, 3_000].map((ms) => [{ ms }, ms]));
    });
  });
});
