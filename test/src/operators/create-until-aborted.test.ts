import { of, Subject, lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createUntilAborted } from '../../../src/operators/until-aborted.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('untilAborted', () => {
  it('passes through everything without a signal, and with one that never aborts', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const until = createUntilAborted();
      for (const marbles of ['-', '|', '-a|', '-a-b-c|', '-a-#']) {
        expectObservable(cold(marbles).pipe(until(undefined))).toBe(marbles);
        expectObservable(cold(marbles).pipe(until(new AbortController().signal))).toBe(marbles);
      }
    });
  });

  it('unsubscribes the source and errors with the reason', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const controller = new AbortController();
      const source = cold('-a--b|');
      scheduler.schedule(() => controller.abort('closed'), 3);
      expectObservable(source.pipe(createUntilAborted()(controller.signal))).toBe(
        '-a-#',
        undefined,
        'closed',
      );
      expectSubscriptions(source.subscriptions).toBe('^--!');
    });
  });

  it('does not subscribe the source when the signal has aborted', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a|');
      expectObservable(source.pipe(createUntilAborted()(AbortSignal.abort('gone')))).toBe(
        '#',
        undefined,
        'gone',
      );
      expectSubscriptions(source.subscriptions).toBe([]);
    });
  });

  it('takes its listener away when nobody watches the signal any more', async () => {
    const { signal } = new AbortController();
    const removed: string[] = [];
    const remove = signal.removeEventListener.bind(signal);
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      removed.push(args[0]);
      remove(...args);
    };
    const until = createUntilAborted();
    const one = new Subject();
    const subscription = one.pipe(until(signal)).subscribe();
    await lastValueFrom(of(1).pipe(until(signal)));
    expect(removed).toStrictEqual([]);
    subscription.unsubscribe();
    expect(removed).toStrictEqual(['abort']);
  });
});
