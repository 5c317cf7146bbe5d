import { describe, it } from 'vitest';
import { inTurn } from '../../../src/operators/in-turn.js';
import { lastOf } from '../../../src/operators/last-of.js';
import { inVirtualTime } from '../../support/virtual-time.js';

/** A flow that tells the last value of a source. */
const last = (source: Parameters<typeof lastOf<string>>[0]) =>
  inTurn(function* () {
    yield (yield* lastOf(source)) ?? 'none';
  });

describe('lastOf', () => {
  it('goes on at the end of the source, with its last value or none', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(last(cold('-a-b-|'))).toBe('-----(b|)');
      expectObservable(last(cold('--|'))).toBe('--(n|)', { n: 'none' });
      expectObservable(last(cold('--'))).toBe('--');
      expectObservable(last(['x'])).toBe('(x|)');
    });
  });

  it('passes its error on, and leaves it when it is unsubscribed', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      expectObservable(last(cold('-a-#'))).toBe('---#');
      const source = cold('-a-|');
      expectObservable(last(source), '^-!').toBe('--');
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });
});
