import { config, filter, firstValueFrom, lastValueFrom, map, Observable, of, throwError, timer } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { pollFixed, type PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import { openGate } from '../../../src/policy/gates/built-in-gates.js';
import { calledWebhook } from '../../support/called-webhook.js';
import { clientOver } from '../../support/client-over.js';
import { inVirtualTime, replied } from '../../support/virtual-time.js';

const fault = new Error('the hook is broken');
const broken = (): never => {
  throw fault;
};
let reported: unknown[];

beforeEach(() => {
  reported = [];
  config.onUnhandledError = (error) => void reported.push(error);
});
afterEach(() => {
  config.onUnhandledError = null;
});

/** A job that is accepted, and has ended when it is polled. */
const service = (path: string) =>
  replied(200, { id: 'j', status: path.includes('/status/') ? 'COMPLETED' : 'IN_QUEUE', output: 1 });
const atOnce: PollSchedule = pollFixed(1);

/** How a real job ends behind these hooks, what was sent, and what rxjs reports. */
async function bought(gate: Partial<Gate>, poll: Partial<PollSchedule> = {}) {
  const real = openGate();
  const { client, sent } = clientOver(service, { gate: { ...real, ...gate } });
  const endpoint = client.queue('echo', { poll: { ...atOnce, ...poll } });
  const outcome = await lastValueFrom(endpoint.run({}).pipe(toOutcome()));
  await new Promise((resolve) => setTimeout(resolve, 2));
  return { status: outcome.status, sent: sent.map(({ url }) => new URL(url).pathname) };
}
const whole = { status: 'completed', sent: ['/v2/echo/run', '/v2/echo/status/j'] };

describe('a hook that fails takes no purchase with it, and is reported', () => {
  it('gate.observe', async () => {
    expect(await bought({ observe: broken })).toStrictEqual(whole);
    expect(reported).toStrictEqual([fault, fault]);
  });

  it('gate.tryPass: admit is asked', async () => {
    expect(await bought({ tryPass: broken })).toStrictEqual(whole);
    expect(reported).toStrictEqual([fault, fault]);
  });

  it.each([
    ['throws', broken],
    ['errors', () => throwError(() => fault)],
  ])('gate.admit that %s for a poll: it passes', async (_, admit) => {
    const real = openGate();
    const forPolls: Gate['admit'] = (request) => (request.kind === 'poll' ? admit() : real.admit(request));
    expect(await bought({ tryPass: () => false, admit: forPolls })).toStrictEqual(whole);
    expect(reported).toStrictEqual([fault]);
  });

  it('gate.admit for a submission errors the job, as nothing was sent', async () => {
    const { client, sent } = clientOver(service, { gate: { admit: broken, observe: () => undefined } });
    await expect(lastValueFrom(client.queue('echo').run({}))).rejects.toBe(fault);
    const rows = pullJobs([1, 2], (row) => client.queue('echo').run({ row }), { concurrency: 2 });
    await expect(lastValueFrom(rows)).rejects.toBe(fault);
    expect(sent).toStrictEqual([]);
    expect(reported).toStrictEqual([]);
  });

  it.each([
    ['throws', broken, [fault]],
    ['gives no number', () => NaN, []],
  ])('random that %s: waits are as long as they may be', async (_, random, faults) => {
    const { client } = clientOver(() => replied(429, 'no'), { random, gate: openGate({ random: () => 1 }) });
    const job = client.queue('echo', { retry: { initialMs: 4_000 } }).run({});
    const { forMs } = await firstValueFrom(job.pipe(filter((event) => event.type === 'waiting')));
    expect(forMs).toBeGreaterThan(3_000);
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(reported).toStrictEqual(faults);
  });

  it('observe of a schedule', async () => {
    expect(await bought({}, { observe: broken })).toStrictEqual(whole);
    expect(reported).toStrictEqual([fault]);
  });

  it('a listener of activity$, and an operator on it', async () => {
    const { client } = clientOver();
    client.activity$.subscribe(broken);
    client.activity$.pipe(map(broken)).subscribe();
    const outcome = await firstValueFrom(client.queue('echo').run({}).pipe(toOutcome()));
    expect(outcome.status).toBe('completed');
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(reported.length).toBeGreaterThanOrEqual(2);
    expect(new Set(reported)).toStrictEqual(new Set([fault]));
  });

  it('the hooks are called on their own object', () => {
    class Counting implements Gate {
      passed = 0;
      seen = 0;
      get ratePerSecond() {
        return 7;
      }
      admit() {
        return of();
      }
      tryPass() {
        this.passed += 1;
        return true;
      }
      observe() {
        this.seen += 1;
      }
    }
    const gate = new Counting();
    const { client } = clientOver(undefined, { gate });
    client.queue('echo').run({}).subscribe();
    expect([gate.passed, gate.seen]).toStrictEqual([1, 1]);
  });
});

it('a webhook that fails in `ended` or `contradicted` takes no outcome with it, and is reported', async () => {
  const { client } = clientOver(service);
  const { webhook, call, results } = calledWebhook();
  const failing = { ...webhook, ended: broken, contradicted: broken };
  const outcome = client
    .queue('echo', { poll: pollFixed(20) })
    .run({}, { webhook: failing })
    .outcome();
  call({ id: 'other', status: 'COMPLETED', output: 2 });
  expect(await outcome).toMatchObject({ status: 'completed', output: 1 });
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(results).toStrictEqual(['foreign']);
  expect(reported).toStrictEqual([fault, fault]);
});

it('a webhook whose `giveUp$` fails is no longer waited for: its job ends as unknown', async () => {
  const { client } = clientOver(() => replied(500, 'oops'));
  const { webhook } = calledWebhook(throwError(() => fault));
  expect(await client.queue('echo').run({}, { webhook }).outcome()).toMatchObject({ code: 'unknown' });
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(reported).toStrictEqual([fault]);
});

describe('poll times that fail', () => {
  it('hold up no job that has ended when they cannot be torn down', () => {
    inVirtualTime(({ scheduler, expectObservable }) => {
      const { client } = clientOver(service, { scheduler, gate: openGate({ scheduler }) });
      const pollTimes = () =>
        new Observable<void>((times) => {
          times.add(timer(2, scheduler).subscribe(() => times.next()));
          return broken;
        });
      const endpoint = client.queue('echo', { poll: { ...atOnce, pollTimes } });
      const status = endpoint.run({}).pipe(
        toOutcome(),
        map((outcome) => outcome.status),
      );
      expectObservable(status).toBe('--(c|)', { c: 'completed' });
    });
  });

  it('end no job that is paid', async () => {
    inVirtualTime(({ scheduler, expectObservable }) => {
      const { client } = clientOver(service, { scheduler, gate: openGate({ scheduler }) });
      const endpoint = client.queue('echo', { poll: { ...atOnce, pollTimes: broken } });
      const status = endpoint.run({}).pipe(
        toOutcome(),
        map((outcome) => outcome.status),
      );
      expectObservable(status).toBe('5s (c|)', { c: 'completed' });
    });
    await new Promise((resolve) => setTimeout(resolve, 2));
    expect(reported).toStrictEqual([fault]);
  });
});
