import { defer, EMPTY, NEVER, of, Subject, takeUntil, throwError, type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { flow, lastOf, receive, type Step } from '../../../src/operators/flow.js';
import { inVirtualTime } from '../../support/virtual-time.js';

describe('flow', () => {
  it('plays streams to their end and emits values, one after another', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const streams = [cold('-a-b|'), cold('-c|')] as const;
      const result = flow(function* (): Iterable<Step<string>> {
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
      expectObservable(flow(() => [])).toBe('|');
      expectObservable(flow(() => [NEVER, after])).toBe('-');
      expectObservable(flow(() => [cold('-a-#'), after])).toBe('-a-#');
      expectSubscriptions(after.subscriptions).toBe([]);
    });
  });

  it('empties the result of each step once it is subscribed: a suspended generator may keep it', () => {
    const results: IteratorResult<Step<string>, undefined>[] = [
      NEVER,
      of('a'),
      receive(of('b'), { take: (value) => value.toUpperCase() }),
      'c',
    ].map((value) => ({ value, done: false }));
    const emitted: unknown[] = [];
    const steps = {
      [Symbol.iterator]: () => ({ next: () => left.pop() ?? { value: undefined, done: true } }),
    };
    const left = [...results];
    flow<string>(() => steps as Iterable<Step<string>>).subscribe((value) => emitted.push(value));
    expect(emitted).toEqual(['c', 'B', 'a']);
    expect(results.map(({ value }) => value)).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('errors with what a step throws, at once or later', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const broken = (before: Step<string>) =>
        flow(function* (): Iterable<Step<string>> {
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
      const result = flow(function* (): Iterable<Step<string>> {
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
    const result = flow(function* (): Iterable<Step<string>> {
      yield source;
      order.push(`next step, watched: ${source.observed}`);
    });
    result.subscribe();
    source.complete();
    expect(order).toStrictEqual(['next step, watched: false']);
  });

  it('ends its generator when it is left, while it waits or while it runs, and begins no step after that', () => {
    const seen: string[] = [];
    const during = new Subject<string>();
    const steps = (leave: () => void) =>
      function* (): Iterable<Step<string>> {
        try {
          leave();
          yield defer(() => of((seen.push('step'), 'x')));
          yield during;
        } finally {
          seen.push('finally');
        }
      };
    flow(steps(() => undefined))
      .subscribe()
      .unsubscribe();
    expect(seen).toStrictEqual(['step', 'finally']);
    const left = new Subject<void>();
    flow(steps(() => left.next()))
      .pipe(takeUntil(left))
      .subscribe();
    expect(seen).toStrictEqual(['step', 'finally', 'finally']);
    expect(during.observed).toBe(false);
  });

  it('does not nest steps that end at once, however many there are', () => {
    let emitted = 0;
    flow(function* (): Iterable<Step<number>> {
      for (let n = 0; n < 50_000; n += 1) yield of(n);
    }).subscribe(() => (emitted += 1));
    expect(emitted).toBe(50_000);
  });
});

/** A flow that emits the last value of a source. */
const last = (source: Parameters<typeof lastOf<string>>[0]) =>
  flow(function* () {
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

describe('receive', () => {
  it('emits what its taker returns', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const upper = { take: (value: string) => (value === 'b' ? undefined : value.toUpperCase()) };
      expectObservable(flow(() => [receive(cold('-a-b-c|', { a: 'a', b: 'b', c: 'c' }), upper)])).toBe(
        '-A---C|',
      );
    });
  });

  it('errors with what its taker throws, and leaves the source', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('-a-b-|');
      const broken = {
        take(): never {
          throw new Error('broken');
        },
      };
      expectObservable(flow(() => [receive(source, broken)])).toBe('-#', undefined, new Error('broken'));
      expectSubscriptions(source.subscriptions).toBe('^!');
    });
  });
});

describe('an error of a stream', () => {
  it('is thrown at its step, which can catch it and go on', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      const caught = (source: Observable<string>) =>
        flow<string>(function* () {
          try {
            yield source;
          } catch (error) {
            yield `caught ${String(error)}`;
          }
          yield 'x';
        });
      const c = 'caught why';
      expectObservable(caught(cold('-a-#', undefined, 'why'))).toBe('-a-(cx|)', {
        a: 'a',
        c,
        x: 'x',
      });
      expectObservable(caught(throwError(() => 'why'))).toBe('(cx|)', { c, x: 'x' });
    });
  });
});
