import { defer, throwError } from 'rxjs';
import { describe, it } from 'vitest';
import { deadline } from '../../../src/operators/deadline.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('deadline', () => {
  it('gives a source that never ends up at its time and goes on with something else', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold(' -');
      const other = cold('       -x-|');
      const subs = '       ^----!';
      const result = source.pipe(deadline({ at: 5, otherwise: () => other, scheduler }));
      expectObservable(result).toBe('------x-|');
      expectSubscriptions(source.subscriptions).toBe(subs);
      expectSubscriptions(other.subscriptions).toBe('-----^--!');
    });
  });

  it('passes through what ends before: empty, one, many, an error', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const other = cold('   x|');
      for (const marbles of ['|', '-a|', '-abc|', '-ab#']) {
        const source = cold(marbles);
        expectObservable(source.pipe(deadline({ at: 9, otherwise: () => other, scheduler }))).toBe(marbles);
      }
      expectSubscriptions(other.subscriptions).toBe([]);
    });
  });

  it('keeps what came before it', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-a-b-c-d-|');
      const result = source.pipe(deadline({ at: 4, otherwise: () => ['x'], scheduler }));
      expectObservable(result).toBe('-a-b(x|)');
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  it('unsubscribes early from the source, and from what follows it', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-a-----');
      const other = cold('-x----');
      const result = source.pipe(deadline({ at: 4, otherwise: () => other, scheduler }));
      expectObservable(result, '^-!').toBe('-a');
      expectObservable(result, '^-----!').toBe('-a---x');
      expectSubscriptions(source.subscriptions).toBe(['^-!', '^---!']);
      expectSubscriptions(other.subscriptions).toBe(['----^-!']);
    });
  });

  it('does not subscribe a source whose time is past', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-a|');
      expectObservable(source.pipe(deadline({ at: 0, otherwise: () => ['x'], scheduler }))).toBe('(x|)');
      expectSubscriptions(source.subscriptions).toBe([]);
    });
  });

  it('errors with what its function throws', () => {
    inVirtualTime(({ cold, expectObservable, scheduler }) => {
      const broken = () => {
        throw new Error('broken');
      };
      const result = cold('--a-').pipe(deadline<string>({ at: 1, otherwise: broken, scheduler }));
      expectObservable(result).toBe('-#', undefined, new Error('broken'));
      const late = cold('----').pipe(
        deadline<string>({
          at: 1,
          otherwise: () => defer(() => throwError(() => 'late')),
          scheduler,
        }),
      );
      expectObservable(late).toBe('-#', undefined, 'late');
    });
  });
});
