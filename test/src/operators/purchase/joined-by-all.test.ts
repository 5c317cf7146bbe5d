import { Observable, take } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { joinedByAll } from '../../../../src/operators/purchase/joined-by-all.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

describe('joinedByAll', () => {
  it('runs the source once for all, and tells who comes late the last event', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a-b-c|');
      const joined = joinedByAll(source);
      expectObservable(joined).toBe('-a-b-c|');
      expectObservable(joined, '--^-!').toBe('--ab');
      expectObservable(joined, '--------^').toBe('--------(c|)');
      expectSubscriptions(source.subscriptions).toBe('^-----!');
    });
  });

  it('leaves the source with the last subscriber, and runs it anew for the next, who is told nothing of before', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a-b|');
      const joined = joinedByAll(source);
      expectObservable(joined, '^-!').toBe('-a');
      expectObservable(joined, '---^').toBe('----a-b|');
      expectSubscriptions(source.subscriptions).toBe(['^-!', '---^---!']);
    });
  });

  it('tells all of an error, and runs the source anew for who comes after it', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-#');
      const joined = joinedByAll(source);
      expectObservable(joined).toBe('-#');
      expectObservable(joined).toBe('-#');
      expectObservable(joined, '---^').toBe('----#');
      expectSubscriptions(source.subscriptions).toBe(['^!', '---^!']);
    });
  });

  it('leaves a source that emits at once as soon as nobody is there', () => {
    const sent: number[] = [];
    const source = new Observable<number>((subscriber) => {
      for (let n = 1; n < 4 && !subscriber.closed; n += 1) {
        sent.push(n);
        subscriber.next(n);
      }
    });
    joinedByAll(source).pipe(take(1)).subscribe();
    expect(sent).toStrictEqual([1]);
  });
});
