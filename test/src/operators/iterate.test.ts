import { concat, EMPTY, NEVER, Observable, of, Subject, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { iterate } from '../../../src/operators/iterate.js';

async function all<T>(source: Observable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of iterate(source)) values.push(value);
  return values;
}

describe('iterate', () => {
  it('gives empty, one and many', async () => {
    expect(await all(EMPTY)).toStrictEqual([]);
    expect(await all(of(1))).toStrictEqual([1]);
    expect(await all(of(1, 2, 3))).toStrictEqual([1, 2, 3]);
  });

  it('throws an error after the values before it, once', async () => {
    const iterator = iterate(
      concat(
        of(1),
        throwError(() => new Error('broken')),
      ),
    );
    expect(await iterator.next()).toStrictEqual({ done: false, value: 1 });
    await expect(iterator.next()).rejects.toThrow('broken');
    expect(await iterator.next()).toStrictEqual({ done: true, value: undefined });
  });

  it('subscribes at the first next and keeps what nobody asked for yet', async () => {
    const source = new Subject<number>();
    const iterator = iterate(source);
    expect(source.observed).toBe(false);
    const first = iterator.next();
    const second = iterator.next();
    for (const value of [1, 2, 3]) source.next(value);
    source.complete();
    expect(await Promise.all([first, second, iterator.next(), iterator.next()])).toStrictEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: false, value: 3 },
      { done: true, value: undefined },
    ]);
  });

  it('unsubscribes on break', async () => {
    let closed = false;
    const source = new Observable<number>((subscriber) => {
      subscriber.next(1);
      subscriber.next(2);
      return () => (closed = true);
    });
    for await (const value of iterate(source)) {
      expect(value).toBe(1);
      break;
    }
    expect(closed).toBe(true);
  });

  it('ends those who wait when it is returned, also before it began', async () => {
    const iterator = iterate(NEVER);
    const waiting = iterator.next();
    await iterator.return!();
    expect(await waiting).toStrictEqual({ done: true, value: undefined });
    const unused = iterate(of(1));
    await unused.return!();
    expect(await unused.next()).toStrictEqual({ done: true, value: undefined });
  });
});
