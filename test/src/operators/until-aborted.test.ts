import { describe, expect, it } from 'vitest';
import { untilAborted } from '../../../src/operators/until-aborted.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('untilAborted', () => {
  it('passes on never, empty, one, many and an error', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const { signal } = new AbortController();
      for (const marbles of ['-', '|', '-a|', '-a-b-|', '-a-#'])
        expectObservable(cold(marbles).pipe(untilAborted(signal))).toBe(marbles);
    });
  });

  it('errors with the reason of the signal, and unsubscribes the source', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const controller = new AbortController();
      scheduler.schedule(() => controller.abort('closed'), 3);
      const source = cold('-a---b');
      expectObservable(source.pipe(untilAborted(controller.signal))).toBe('-a-#', undefined, 'closed');
      expectSubscriptions(source.subscriptions).toBe('^--!');
      expectObservable(cold('a').pipe(untilAborted(AbortSignal.abort('late')))).toBe('#', undefined, 'late');
    });
  });

  it('listens no longer than its subscriber', () => {
    const { signal } = new AbortController();
    const listeners: string[] = [];
    signal.addEventListener = (type: string) => void listeners.push(`+${type}`);
    signal.removeEventListener = (type: string) => void listeners.push(`-${type}`);
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(cold('-').pipe(untilAborted(signal)), '^-!').toBe('-');
    });
    expect(listeners).toStrictEqual(['+abort', '-abort']);
  });
});
