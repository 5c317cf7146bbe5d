import { of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createShares } from '../../../src/operators/create-shares.js';
import { withinShare } from '../../../src/operators/within-share.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('withinShare', () => {
  it('subscribes when there is a slot, and gives it back at the end', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const shares = createShares({ slots: 1 });
      const [first, second] = [cold('-a-|'), cold('-b|')];
      expectObservable(first.pipe(withinShare(shares, 'x'))).toBe('-a-|');
      expectObservable(second.pipe(withinShare(shares, 'x'))).toBe('----b|');
      expectSubscriptions(second.subscriptions).toBe('---^-!');
    });
  });

  it('passes on never, empty, one, many and an error, each of which gives its slot back', () => {
    inVirtualTime(({ cold, flush, expectObservable }) => {
      const shares = createShares({ slots: 1 });
      for (const marbles of ['|', '(a|)', '(ab|)', '#'])
        expectObservable(cold(marbles).pipe(withinShare(shares, 'x'))).toBe(marbles);
      expectObservable(cold('-').pipe(withinShare(shares, 'x')), '^-!').toBe('-');
      flush();
      expect(shares.state()).toStrictEqual({ x: { held: 0, waiting: 0 } });
    });
  });

  it('gives back its slot, or its place, when it is unsubscribed', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const shares = createShares({ slots: 1 });
      const waiting = cold('-a');
      expectObservable(cold('-').pipe(withinShare(shares, 'x')), '^----!').toBe('-');
      expectObservable(waiting.pipe(withinShare(shares, 'x')), '^--!').toBe('-');
      expectObservable(cold('-b|').pipe(withinShare(shares, 'y'))).toBe('------b|');
      expectSubscriptions(waiting.subscriptions).toBe([]);
    });
  });

  it('does not nest jobs that end at once', () => {
    const shares = createShares({ slots: 1 });
    const first = new Subject<number>();
    let ended = 0;
    first.pipe(withinShare(shares, 'x')).subscribe();
    for (let index = 0; index < 20_000; index += 1)
      of(index)
        .pipe(withinShare(shares, 'x'))
        .subscribe({ complete: () => (ended += 1) });
    first.complete();
    expect(ended).toBe(20_000);
  });
});
