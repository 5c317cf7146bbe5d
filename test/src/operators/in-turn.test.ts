import { EMPTY, NEVER, of, Subject } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { inTurn, type Step } from '../../../src/operators/in-turn.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('inTurn', () => {
  it('plays streams to their end and tells values, one after another', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const streams = [cold('-a-b|'), cold('-c|')] as const;
      const result = inTurn(function* (): Iterable<Step<string>> {
        yield 'x';
        yield streams[0];
        yield EMPTY;
        yield streams[1];
        yield 'y';
      });
      expectObservable(result).toBe('xa-b-c(y|)');
      expectSubscriptions(streams[0].subscriptions).toBe('^---!');
      expectSubscriptions(streams[1].subscriptions).toBe('----^-!');
    });
  });

  it('passes never, empty and an error on, and begins nothing after an error', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const after = cold('a|');
      expectObservable(inTurn(() => [])).toBe('|');
      expectObservable(inTurn(() => [NEVER, after])).toBe('-');
      expectObservable(inTurn(() => [cold('-a-#'), after])).toBe('-a-#');
      expectSubscriptions(after.subscriptions).toBe([]);
    });
  });

  it('errors with what a step throws, at once or later', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const broken = (before: Step<string>) =>
        inTurn(function* (): Iterable<Step<string>> {
          yield before;
          throw new Error('broken');
        });
      expectObservable(broken('a')).toBe('(a#)', undefined, new Error('broken'));
      expectObservable(broken(cold('-a-|'))).toBe('-a-#', undefined, new Error('broken'));
    });
  });

  it('leaves the stream that is on, and runs nothing behind it, when it is unsubscribed', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const stream = cold('-a-b-|');
      let wentOn = false;
      const result = inTurn(function* (): Iterable<Step<string>> {
        yield stream;
        wentOn = true;
      });
      expectObservable(result, '^-!').toBe('-a');
      expectSubscriptions(stream.subscriptions).toBe('^-!');
      flush();
      expect(wentOn).toBe(false);
    });
  });

  it('goes on when the stream before was torn down, not when it said that it is complete', () => {
    const order: string[] = [];
    const source = new Subject<string>();
    const result = inTurn(function* (): Iterable<Step<string>> {
      yield source;
      order.push(`next step, watched: ${source.observed}`);
    });
    result.subscribe();
    source.complete();
    expect(order).toStrictEqual(['next step, watched: false']);
  });

  it('does not nest steps that end at once, however many there are', () => {
    let told = 0;
    inTurn(function* (): Iterable<Step<number>> {
      for (let n = 0; n < 50_000; n += 1) yield of(n);
    }).subscribe(() => (told += 1));
    expect(told).toBe(50_000);
  });
});
