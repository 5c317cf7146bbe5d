import { identity, map, of, type MonoTypeOperatorFunction } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { JobEvent } from '../../../src/contract/outcome.js';
import type { Job } from '../../../src/operators/job.js';
import { chainJob } from '../../../src/operators/chain-job.js';
import { completed, jobEvents as events, jobOver, settled } from '../../../src/testing/in-virtual-time.js';
import { echoShop } from '../../support/echo-shop.js';
import { inVirtualTime } from '../../support/virtual-time.js';

const values = { ...events, D: settled(completed('other')) } satisfies Record<string, JobEvent<string>>;

describe('chainJob', () => {
  it('goes on with the second when the first has completed', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const first = cold<JobEvent<string>>(' s-a-d|', values);
      const second = cold<JobEvent<string>>('    s-a-D|', values);
      const given: unknown[] = [];
      const piped = jobOver(first).pipe(
        chainJob((output, outcome) => {
          given.push(output, outcome.status);
          return second;
        }),
      );
      expectObservable(piped).toBe('s-a-s-a-D|', values);
      expectSubscriptions(first.subscriptions).toBe('^----!');
      expectSubscriptions(second.subscriptions).toBe('----^----!');
    });
  });

  it('ends with the failure of the first, and of the second', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const first = (marbles: string) => jobOver(cold<JobEvent<string>>(marbles, values));
      const next = () => cold<JobEvent<string>>('s-m|', values);
      expectObservable(first('s-f|').pipe(chainJob(next))).toBe('s-f|', values);
      expectObservable(first('s-d|').pipe(chainJob(next))).toBe('s-s-m|', values);
    });
  });

  it('buys nothing more when `project` itself cancels the chain', async () => {
    const shop = echoShop();
    const chain: Job<unknown> = shop.buy(1).pipe(
      chainJob(() => {
        void chain.cancel();
        return shop.buy(2);
      }),
    );
    expect(await chain.outcome()).toMatchObject({ code: 'job-cancelled', paid: 'no' });
    expect(shop.sent).toHaveLength(1);
  });

  it('passes on never, empty, many and the error of either', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const then = (first: string, second = 's|') =>
        cold<JobEvent<string>>(first, values).pipe(chainJob(() => cold<JobEvent<string>>(second, values)));
      for (const marbles of ['-', '-|', 's-a-q-|', 's-#'])
        expectObservable(then(marbles)).toBe(marbles, values);
      expectObservable(then('s-d|', 's-#')).toBe('s-s-#', values);
    });
  });

  it('unsubscribes whichever is under way', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const second = cold<JobEvent<string>>('s----', values);
      const piped = cold<JobEvent<string>>('s-d|', values).pipe(chainJob(() => second));
      expectObservable(piped, '^---!').toBe('s-s-', values);
      expectSubscriptions(second.subscriptions).toBe('--^-!');
    });
  });

  it.each<[string, MonoTypeOperatorFunction<JobEvent<string>>]>([
    ['whoever subscribes how often', identity],
    ['also where each subscriber is given a copy of the outcome', map((event) => structuredClone(event))],
  ])('makes the second job once, %s', (_, given) => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      let made = 0;
      const piped = jobOver(cold<JobEvent<string>>('s-d|', values)).pipe(
        given,
        chainJob(() => {
          made += 1;
          return cold<JobEvent<string>>('-D|', values);
        }),
      );
      expectObservable(piped).toBe('s--D|', values);
      expectObservable(piped, '--------^').toBe('--------s--D|', values);
      flush();
      expect(made).toBe(1);
    });
  });

  it.each([
    ['undefined', undefined, 'is not a function that returns a job (got undefined)'],
    ['a promise', Promise.resolve({}), 'returned a promise: return the job itself'],
  ])(
    'errors when project returns %s: it did not end as if it was cancelled',
    async (_, returned, problem) => {
      const job = jobOver(of<JobEvent<string>>(values.d)).pipe(chainJob((() => returned) as never));
      await expect(job.outcome()).rejects.toMatchObject({ code: 'invalid-option', option: 'project' });
      await expect(job.outcome()).rejects.toThrow(problem);
    },
  );

  it('errors when project throws', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const broken = (): never => {
        throw new Error('broken');
      };
      const piped = cold<JobEvent<string>>('s-d|', values).pipe(chainJob(broken));
      expectObservable(piped).toBe('s-#', values, new Error('broken'));
    });
  });
});
