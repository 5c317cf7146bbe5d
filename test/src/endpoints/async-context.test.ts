import { AsyncLocalStorage } from 'node:async_hooks';
import { delayWhen, lastValueFrom, map, merge, of, tap, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ClientOptions } from '../../../src/endpoints/client-state.js';
import { createClient } from '../../../src/endpoints/create-client.js';
import { chainJob } from '../../../src/operators/chain-job.js';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import type { Job } from '../../../src/operators/job.js';
import { saveWith } from '../../../src/operators/save-with.js';
import { createLanes, withinLane } from '../../../src/operators/within-lane.js';
import { pollLearned } from '../../../src/policy/polling/learned.js';
import { pollExponential, pollFixed, type PollSchedule } from '../../../src/policy/polling/poll-schedule.js';
import type { WireRequest } from '../../../src/transport/transport.js';
import { turn } from '../../support/echo-shop.js';
import { replied } from '../../support/virtual-time.js';

const tenants = new AsyncLocalStorage<string>();

/** Jobs that have ended at their second poll. */
function service() {
  const polls = new Map<string, number>();
  return ({ method, url }: WireRequest) => {
    const id = method === 'POST' ? `job-${polls.size + 1}` : (url.split('/').at(-1) ?? '');
    const count = method === 'POST' ? 0 : (polls.get(id) ?? 0) + 1;
    polls.set(id, count);
    const reply = count < 2 ? { id, status: 'IN_PROGRESS' } : { id, status: 'COMPLETED', output: {} };
    return of(replied(200, reply)).pipe(delayWhen(turn));
  };
}

type Through = <O>(job: Job<O>) => Job<O>;

/** Three tenants use one client at the same time. Emits where a function was called in the context of another one. */
async function strayed(poll: PollSchedule, options: ClientOptions = {}, through: Through = (job) => job) {
  const client = createClient({
    apiKey: 'k',
    baseUrl: 'https://api.example',
    transport: service(),
    ...options,
  });
  const endpoint = client.queue('echo', { poll });
  const stray: string[] = [];
  let calls = 0;
  const bought = (tenant: string): Observable<unknown> => {
    const note = (where: string) => {
      calls += 1;
      if (tenants.getStore() !== tenant) stray.push(where);
      return Promise.resolve();
    };
    const run = () => through(endpoint.run({}, { checkpoint: ({ type }) => note(`checkpoint ${type}`) }));
    const chained = (): Job<unknown> =>
      run().pipe(
        chainJob(() => {
          void note('chainJob');
          return run();
        }),
        saveWith(() => note('saveWith')),
      );
    return pullJobs([1, 2, 3], chained, { concurrency: 2 }).pipe(
      tap({ next: () => void note('next'), complete: () => void note('complete') }),
    );
  };
  const all = ['a', 'b', 'c'].map((tenant) =>
    tenants.run(tenant, () => lastValueFrom(bought(tenant).pipe(map(() => tenant)))),
  );
  expect(await Promise.all(all)).toStrictEqual(['a', 'b', 'c']);
  return { stray: [...new Set(stray)], calls };
}

describe('the functions of a job', () => {
  const lanes = createLanes({ slots: 1 });
  it.each<[string, () => ReturnType<typeof strayed>]>([
    ['pollFixed', () => strayed(pollFixed(1))],
    ['pollExponential', () => strayed(pollExponential({ initialMs: 1, maxMs: 2 }))],
    ['pollLearned', () => strayed(pollLearned({ msPerCall: 0.01 }))],
    ['a wait for a slot', () => strayed(pollFixed(1), { maxConcurrency: 1 })],
    ['a wait for a lane', () => strayed(pollFixed(1), {}, (job) => job.pipe(withinLane(lanes, 'all')))],
  ])('are called in the context of its own call, with %s', async (_, buy) => {
    const { stray, calls } = await buy();
    expect(stray).toStrictEqual([]);
    expect(calls).toBeGreaterThan(80);
  });

  it('are called so, also where it is subscribed in another one', async () => {
    const client = createClient({ apiKey: 'k', baseUrl: 'https://api.example', transport: service() });
    const endpoint = client.queue('echo', { poll: pollFixed(1) });
    const jobs = ['a', 'b'].map((tenant) => tenants.run(tenant, () => endpoint.run({})));
    const seen: unknown[] = [];
    const [one, other] = jobs.map((job) => job.pipe(tap(() => seen.push(tenants.getStore()))));
    await lastValueFrom(merge(one ?? of(), other ?? of()));
    expect(new Set(seen)).toStrictEqual(new Set(['a', 'b']));
  });
});
