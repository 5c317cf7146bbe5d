import { config, lastValueFrom, NEVER, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { cancelOnTeardown } from '../../../src/operators/cancel-on-teardown.js';
import { createBudget, type Budget } from '../../../src/operators/budget/create-budget.js';
import { createLanes, withinLane } from '../../../src/operators/within-lane.js';
import { retryPurchase } from '../../../src/operators/retry-purchase.js';
import { switchJobs } from '../../../src/operators/fan-out/switch-jobs.js';
import { chainJob } from '../../../src/operators/chain-job.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { withinBudget } from '../../../src/operators/budget/within-budget.js';
import { scriptedClient } from '../../support/scripted-client.js';

/** One poll, when the test says so. */
const asked = new Subject<void>();
const poll = { pollTimes: () => asked, observe: () => undefined };

function market(capUsd = 1) {
  const service = scriptedClient();
  const budget = createBudget(capUsd);
  const edits = service.client.queue('edit', { poll, deadlineMs: 1e9 });
  const money = () => {
    const { reservedUsd, spentUsd, unknownUsd } = budget.state();
    return { reservedUsd, spentUsd, unknownUsd };
  };
  return { ...service, budget, edits, money, within: withinBudget<unknown>(budget, 0.4) };
}
const none = { reservedUsd: 0, spentUsd: 0, unknownUsd: 0 };
const queued = (id: string) => ({ id, status: 'IN_QUEUE' });
const cancelled = (id: string) => ({ id, status: 'CANCELLED' });
const done = (id: string, cost: number) => ({ id, status: 'COMPLETED', output: { cost } });

describe('a budget gives room back when the service says that a job was not charged, whoever is subscribed', () => {
  it('a job that was left and cancelled', () => {
    const { edits, within, answer, money } = market();
    const subscription = cancelOnTeardown(within(edits.run({}))).subscribe();
    answer('/run', queued('a'));
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.4 });
    subscription.unsubscribe();
    expect(money()).toStrictEqual({ ...none, unknownUsd: 0.4 });
    answer('/cancel/a', cancelled('a'));
    expect(money()).toStrictEqual(none);
  });

  it('one that was left and cancelled while its POST was out', () => {
    const { edits, within, answer, money } = market();
    cancelOnTeardown(within(edits.run({})))
      .subscribe()
      .unsubscribe();
    expect(money()).toStrictEqual({ ...none, unknownUsd: 0.4 });
    answer('/run', queued('a'));
    answer('/cancel/a', cancelled('a'));
    expect(money()).toStrictEqual(none);
  });

  it('one whose answer to /cancel comes at once', () => {
    const service = scriptedClient({}, (path) => (path.endsWith('/cancel/a') ? cancelled('a') : undefined));
    const budget = createBudget(1);
    const job = withinBudget<unknown>(budget, 0.4)(service.client.queue('edit', { poll }).run({}));
    cancelOnTeardown(job).subscribe().unsubscribe();
    service.answer('/run', queued('a'));
    expect(budget.state()).toMatchObject(none);
    const ends: unknown[] = [];
    job.subscribe((event) => ends.push(event));
    expect(ends).toMatchObject([{ type: 'settled', outcome: { code: 'job-cancelled', paid: 'no' } }]);
  });

  it('one that was cancelled while it was polled, and left before the next poll', () => {
    const { edits, within, answer, money } = market();
    const job = within(edits.run({}));
    const subscription = job.subscribe();
    answer('/run', queued('a'));
    void job.cancel();
    answer('/cancel/a', cancelled('a'));
    expect(money()).toStrictEqual(none);
    subscription.unsubscribe();
    expect(money()).toStrictEqual(none);
  });

  it('one that was left while its POST was out, which was refused', () => {
    const { edits, within, answer, money } = market();
    const job = within(edits.run({}));
    job.subscribe().unsubscribe();
    expect(money()).toStrictEqual({ ...none, unknownUsd: 0.4 });
    answer('/run', {}, 429);
    expect(money()).toStrictEqual(none);
    job.subscribe();
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.4 });
  });

  it('not one that had completed when it was to be cancelled: it is booked when its cost is known', () => {
    const { edits, within, answer, money } = market();
    const job = within(edits.run({}));
    cancelOnTeardown(job).subscribe();
    answer('/run', queued('a'));
    cancelOnTeardown(job).subscribe().unsubscribe();
    answer('/cancel/a', { id: 'a', status: 'COMPLETED' });
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.4 });
    asked.next();
    answer('/status/a', done('a', 0.25));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.25 });
  });

  it('the superseded ones of a typeahead', () => {
    const { edits, within, answer, money, posts } = market(0.9);
    const prompts = new Subject<string>();
    const ends: unknown[] = [];
    prompts.pipe(switchJobs((prompt) => within(edits.run({ prompt })))).subscribe((event) => {
      if (event.type === 'settled') ends.push(event.outcome.status);
    });
    for (const id of ['a', 'b', 'c', 'd']) {
      prompts.next(id);
      answer('/run', queued(id));
      if (id !== 'a') answer(`/cancel/${before(id)}`, cancelled(before(id)));
    }
    expect(posts()).toBe(4);
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.4 });
    asked.next();
    answer('/status/d', done('d', 0.3));
    expect(ends).toStrictEqual(['completed']);
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.3 });
  });
  const before = (id: string) => String.fromCharCode(id.charCodeAt(0) - 1);
});

describe('a budget knows jobs by their ids', () => {
  it('attach of a purchase that is counted is free, and settles it', () => {
    const { edits, within, answer, money } = market(0.5);
    within(edits.run({})).subscribe().unsubscribe();
    answer('/run', queued('a'));
    expect(money()).toStrictEqual({ ...none, unknownUsd: 0.4 });
    within(edits.attach('a')).subscribe();
    expect(money()).toStrictEqual({ ...none, unknownUsd: 0.4 });
    answer('/status/a', done('a', 0.25));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.25 });
    within(edits.attach('a')).subscribe();
    answer('/status/a', done('a', 0.25));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.25 });
  });

  it('attach of one that is not counted is, once', () => {
    const { edits, within, answer, money } = market();
    within(edits.attach('a')).subscribe().unsubscribe();
    within(edits.attach('a')).subscribe();
    expect(money()).toStrictEqual({ ...none, unknownUsd: 0.4 });
    answer('/status/a', done('a', 0.25));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.25 });
  });

  it('attach of one that has no room may be paid: it is not to be bought again', async () => {
    const { edits, within, money, paths } = market(0.3);
    const outcome = await within(edits.attach('a')).outcome();
    expect(outcome).toMatchObject({ code: 'over-budget', paid: 'maybe', jobId: 'a' });
    expect(outcome).toMatchObject({ message: expect.stringContaining('job a was bought before') as string });
    expect([money(), paths]).toStrictEqual([none, []]);
  });

  it('the same id of another endpoint is another purchase', () => {
    const { client, edits, within, money } = market();
    within(edits.attach('a')).subscribe();
    within(client.queue('other', { poll }).attach('a')).subscribe();
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.8 });
  });

  it('a failed job that is requeued under its id is another purchase', () => {
    const { edits, within, answer, money } = market();
    within(edits.run({})).subscribe();
    answer('/run', { id: 'a', status: 'FAILED', error: 'no' });
    expect(money()).toStrictEqual(none);
    within(edits.retry('a')).subscribe();
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.4 });
    answer('/retry/a', queued('a'));
    asked.next();
    answer('/status/a', done('a', 0.2));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.2 });
  });

  it('books each purchase of a chain, and does not send the second without room for it', async () => {
    const { edits, within, answer, money, posts } = market();
    const chain = chainJob(() => edits.run({ second: true }))(edits.run({}));
    within(chain).subscribe();
    answer('/run', done('a', 0.3));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.3, reservedUsd: 0.4 });
    answer('/run', done('b', 0.5));
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.8 });
    within(chain).subscribe();
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.8 });
    const poor = within(chainJob(() => edits.run({}))(edits.attach('a')));
    const outcome = lastValueFrom(poor.pipe(toOutcome()));
    answer('/status/a', done('a', 0.3));
    expect(await outcome).toMatchObject({ code: 'over-budget' });
    expect(posts()).toBe(2);
  });

  it('books each purchase of retryPurchase, also through a share', async () => {
    const { edits, within, answer, money, posts } = market();
    const shares = createLanes({ slots: 1 });
    const bought = retryPurchase(() => edits.run({}), { maxRetries: 2, codes: ['job-failed'] });
    const outcome = lastValueFrom(within(withinLane<unknown>(shares, 'x')(bought)).pipe(toOutcome()));
    answer('/run', { id: 'a', status: 'FAILED', error: 'no' });
    expect(money()).toStrictEqual({ ...none, reservedUsd: 0.4 });
    expect(shares.state()).toMatchObject({ x: { held: 1 } });
    answer('/run', done('b', 0.3));
    expect(await outcome).toMatchObject({ status: 'completed', jobId: 'b' });
    expect(money()).toStrictEqual({ ...none, spentUsd: 0.3 });
    expect(posts()).toBe(2);
  });

  it.each(['identify', 'refused', 'keep', 'release', 'settle'] as const)(
    'goes on when %s of a budget of the user throws, which is reported',
    async (method) => {
      const { client, answer } = market();
      const edits = client.queue('edit', { poll, retry: { initialMs: 0 } });
      const reported: unknown[] = [];
      config.onUnhandledError = (error) => void reported.push(error);
      const fault = new Error('no ledger');
      const broken: Budget = {
        ...createBudget(1),
        [method]: () => {
          throw fault;
        },
      };
      const within = withinBudget<unknown>(broken, 0.1);
      expect(await lastValueFrom(within(edits.run([])).pipe(toOutcome()))).toMatchObject({
        code: 'invalid-row',
      });
      const outcome = lastValueFrom(within(edits.run({})).pipe(toOutcome()));
      answer('/run', {}, 429);
      answer('/run', done('a', 0.1));
      expect(await outcome).toMatchObject({ status: 'completed' });
      await new Promise((resolve) => setTimeout(resolve));
      config.onUnhandledError = null;
      expect(new Set(reported)).toStrictEqual(new Set([fault]));
    },
  );
});

describe('operators keep the job', () => {
  it.each([
    ['withinBudget', withinBudget<unknown>(createBudget(9), 0.1)],
    ['withinLane', withinLane<unknown>(createLanes({ slots: 1 }), 'x')],
    ['chainJob', chainJob<unknown, unknown>(() => NEVER)],
  ])('%s, also through pipe', async (_, operator) => {
    const { edits, answer, paths } = market();
    const job = edits.run({}, { key: 'mine' }).pipe(operator);
    const iterator = job[Symbol.asyncIterator]();
    expect(await iterator.next()).toMatchObject({ value: { type: 'submitting' } });
    expect([job.key, job.jobId, job.statusCalls]).toStrictEqual(['mine', undefined, 0]);
    answer('/run', queued('a'));
    expect(job.jobId).toBe('a');
    asked.next();
    expect(job.statusCalls).toBe(1);
    void job.cancel();
    expect(paths.at(-1)).toBe('/v2/edit/cancel/a');
    await iterator.return!();
  });

  it('retryPurchase is one run: subscribers, retry and repeat buy nothing, and cancel ends it', () => {
    const { edits, answer, posts, paths } = market();
    const bought = retryPurchase(() => edits.run({}), {
      maxRetries: 3,
      codes: ['job-failed', 'job-cancelled'],
    });
    const first = bought.subscribe();
    bought.subscribe();
    expect(posts()).toBe(1);
    answer('/run', { id: 'a', status: 'FAILED', error: 'no' });
    expect(posts()).toBe(2);
    first.unsubscribe();
    answer('/run', queued('b'));
    const ends: unknown[] = [];
    bought.subscribe((event) => {
      if (event.type === 'settled') ends.push(event.outcome);
    });
    expect([posts(), bought.jobId]).toStrictEqual([2, 'b']);
    void bought.cancel();
    expect(paths.at(-1)).toBe('/v2/edit/cancel/b');
    asked.next();
    answer('/status/b', cancelled('b'));
    expect(ends).toMatchObject([{ code: 'job-cancelled' }]);
    expect(posts()).toBe(2);
  });

  it('a chain that was cancelled buys nothing more', async () => {
    const { edits, answer, posts } = market();
    const job = chainJob<unknown, unknown>(() => edits.run({ second: true }))(edits.run({}));
    const outcome = lastValueFrom(job.pipe(toOutcome()));
    void job.cancel();
    answer('/run', done('a', 0.3));
    expect(await outcome).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(posts()).toBe(1);
  });
});
