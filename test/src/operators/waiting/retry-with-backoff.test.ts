import { defer } from 'rxjs';
import { describe, it } from 'vitest';
import { retryWithBackoff } from '../../../../src/operators/waiting/retry-with-backoff.js';
import { inVirtualTime, type Virtual } from '../../../support/virtual-time.js';

const again = (scheduler: Virtual['scheduler'], most = 2) =>
  retryWithBackoff<string>({
    delayMs: (_error, failures) => (failures > most ? undefined : failures * 2),
    waiting: (forMs) => `w${forMs}`,
    scheduler,
  });

describe('retryWithBackoff', () => {
  it('passes through never, empty, one and many', () => {
    inVirtualTime(({ cold, expectObservable, scheduler }) => {
      for (const marbles of ['-', '|', '-a|', '-a-b-c|'])
        expectObservable(cold(marbles).pipe(again(scheduler))).toBe(marbles);
    });
  });

  it('subscribes again after each wait, and tells of it', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-#');
      const result = source.pipe(again(scheduler));
      expectObservable(result).toBe('-a--b----#', { a: 'w2', b: 'w4' });
      expectSubscriptions(source.subscriptions).toBe(['^!', '---^!', '--------^!']);
    });
  });

  it('goes on with what the source gives when it succeeds', () => {
    inVirtualTime(({ cold, expectObservable, scheduler }) => {
      const tries = [cold('-#'), cold('--v|')];
      let at = 0;
      const result = defer(() => tries[at++]!).pipe(again(scheduler));
      expectObservable(result).toBe('-w---v|', { w: 'w2', v: 'v' });
    });
  });

  it('stops waiting when it is unsubscribed', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const source = cold('-#');
      expectObservable(source.pipe(again(scheduler)), '^-!').toBe('-a', { a: 'w2' });
      expectSubscriptions(source.subscriptions).toBe(['^!']);
    });
  });

  it('errors with what its functions throw', () => {
    inVirtualTime(({ cold, expectObservable, scheduler }) => {
      const config = { delayMs: () => 1, waiting: () => 'w', scheduler };
      const broken = (): never => {
        throw new Error('broken');
      };
      const inDelay = cold('-#').pipe(retryWithBackoff<string>({ ...config, delayMs: broken }));
      expectObservable(inDelay).toBe('-#', undefined, new Error('broken'));
      const inWaiting = cold('-#').pipe(retryWithBackoff<string>({ ...config, waiting: broken }));
      expectObservable(inWaiting).toBe('-#', undefined, new Error('broken'));
    });
  });
});
