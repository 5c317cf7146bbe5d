import { describe, it } from 'vitest';
import { uninterrupted } from '../../../../src/operators/purchase/uninterrupted.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

describe('uninterrupted', () => {
  it('passes through never, empty, one, many and an error', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      for (const marbles of ['-', '|', '-a|', '-a-b-c|', '-a-#'])
        expectObservable(cold(marbles).pipe(uninterrupted())).toBe(marbles);
    });
  });

  it('runs the source to its end after the last subscriber has gone', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold(' -a-b-c-|');
      const result = source.pipe(uninterrupted());
      expectObservable(result, '^-!').toBe('-a');
      expectSubscriptions(source.subscriptions).toBe('^------!');
    });
  });

  it('is joined by who comes later, and never runs twice', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold(' -a-b-c-|');
      const result = source.pipe(uninterrupted());
      expectObservable(result, '^-!').toBe('-a');
      expectObservable(result, '----^').toBe('-----c-|');
      expectObservable(result, '----------^').toBe('----------|');
      expectSubscriptions(source.subscriptions).toBe(['^------!']);
    });
  });

  it('gives its error to who comes after it', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-#');
      const result = source.pipe(uninterrupted());
      expectObservable(result).toBe('-#');
      expectObservable(result, '-----^').toBe('-----#');
      expectSubscriptions(source.subscriptions).toBe(['^!']);
    });
  });
});
