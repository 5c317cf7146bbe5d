import {
  forkJoin,
  from,
  lastValueFrom,
  merge,
  mergeMap,
  of,
  Subject,
  throwError,
  type Observable,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import { mergeJobs } from '../../../src/operators/fan-out/merge-jobs.js';
import { pullJobs } from '../../../src/operators/fan-out/pull-jobs.js';
import type { Job } from '../../../src/operators/job.js';
import { createLanes, withinLane } from '../../../src/operators/within-lane.js';
import { jobEvents as events } from '../../../src/testing/in-virtual-time.js';
import { scriptedClient } from '../../support/scripted-client.js';
import { inVirtualTime, type Virtual } from '../../support/virtual-time.js';

/** Ways to have several jobs at a time. */
const together: Record<string, (buy: (row: number) => Job<unknown>) => Observable<unknown>> = {
  pullJobs: (buy) => pullJobs([1, 2, 3], buy, { concurrency: 3 }),
  mergeJobs: (buy) => from([1, 2, 3]).pipe(mergeJobs(buy, { concurrency: 3 })),
  'several pullJobs': (buy) => merge(...[1, 2, 3].map((row) => pullJobs([row], buy, { concurrency: 1 }))),
  mergeMap: (buy) => from([1, 2, 3]).pipe(mergeMap(buy)),
  forkJoin: (buy) => forkJoin([buy(1), buy(2), buy(3)]),
};

const jobs =
  ({ cold }: Virtual) =>
  (marbles: string) =>
    cold<JobEvent<string>>(marbles, events);

describe('withinLane', () => {
  it('subscribes when there is a slot, and gives it back at the end', () => {
    inVirtualTime((virtual) => {
      const lanes = createLanes({ slots: 1 });
      const [first, second] = [jobs(virtual)('-d-|'), jobs(virtual)('-f|')];
      virtual.expectObservable(first.pipe(withinLane(lanes, 'x'))).toBe('-d-|', events);
      virtual.expectObservable(second.pipe(withinLane(lanes, 'x'))).toBe('----f|', events);
      virtual.expectSubscriptions(second.subscriptions).toBe('---^-!');
    });
  });

  it('passes on never, empty, one, many and an error, each of which gives its slot back', () => {
    const lanes = createLanes({ slots: 1 });
    inVirtualTime((virtual) => {
      for (const marbles of ['|', '(d|)', '(sd|)', '#'])
        virtual.expectObservable(jobs(virtual)(marbles).pipe(withinLane(lanes, 'x'))).toBe(marbles, events);
      virtual.expectObservable(jobs(virtual)('-').pipe(withinLane(lanes, 'x')), '^-!').toBe('-');
    });
    expect(lanes.state()).toStrictEqual({});
  });

  it('gives back its slot, or its place, when it is unsubscribed', () => {
    inVirtualTime((virtual) => {
      const lanes = createLanes({ slots: 1 });
      const waiting = jobs(virtual)('-s');
      virtual.expectObservable(jobs(virtual)('-').pipe(withinLane(lanes, 'x')), '^----!').toBe('-');
      virtual.expectObservable(waiting.pipe(withinLane(lanes, 'x')), '^--!').toBe('-');
      virtual.expectObservable(jobs(virtual)('-d|').pipe(withinLane(lanes, 'y'))).toBe('------d|', events);
      virtual.expectSubscriptions(waiting.subscriptions).toBe([]);
    });
  });

  it.each(Object.entries(together))('buys no row that waits when %s is left', async (_, several) => {
    const service = scriptedClient();
    const endpoint = service.client.queue('echo');
    const lanes = createLanes({ slots: 1 });
    const other = endpoint.run({ row: 9 }).pipe(withinLane(lanes, 'y'));
    const left = several((row) => endpoint.run({ row }).pipe(withinLane(lanes, 'x'))).subscribe();
    other.subscribe();
    expect(lanes.state()).toStrictEqual({ x: { held: 1, waiting: 2 }, y: { held: 0, waiting: 1 } });
    left.unsubscribe();
    await Promise.resolve();
    expect(lanes.state()).toStrictEqual({ y: { held: 1, waiting: 0 } });
    expect(service.posts()).toBe(2);
  });

  it('buys no row that waits when an error stops its fan-out', async () => {
    const service = scriptedClient();
    const endpoint = service.client.queue('echo');
    const lanes = createLanes({ slots: 1 });
    const checkpoint = ({ type }: { type: string }) =>
      type === 'accepted' ? throwError(() => new Error('ENOSPC')) : [];
    const buy = (row: number) => endpoint.run({ row }, { checkpoint }).pipe(withinLane(lanes, 'x'));
    const end = lastValueFrom(pullJobs([1, 2, 3], buy, { concurrency: 3, onError: 'stop' }));
    service.answer('/run', { id: 'a', status: 'IN_QUEUE' });
    await expect(end).rejects.toThrow('ENOSPC');
    expect(service.posts()).toBe(1);
    expect(lanes.state()).toStrictEqual({});
  });

  it('does not nest jobs that end at once', () => {
    const lanes = createLanes({ slots: 1 });
    const first = new Subject<JobEvent<string>>();
    let ended = 0;
    first.pipe(withinLane(lanes, 'x')).subscribe();
    for (let index = 0; index < 20_000; index += 1)
      of<JobEvent<string>>(events.d)
        .pipe(withinLane(lanes, 'x'))
        .subscribe({ complete: () => (ended += 1) });
    first.complete();
    expect(ended).toBe(20_000);
  });
});
