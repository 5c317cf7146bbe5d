import { Observable, Subscription, type Observer } from 'rxjs';

/**
 * The values of an Observable as an async iterator. Subscribes at the first `next()`, and unsubscribes at `return()`, which
 * `break` calls, even while the source is being subscribed. Values that are not requested yet are kept. An error is thrown
 * after the values before it.
 */
export function iterate<T>(source: Observable<T>): Iteration<T> {
  const kept: T[] = [];
  const asking: { resolve(result: IteratorResult<T, undefined>): void; reject(error: unknown): void }[] = [];
  const subscription = new Subscription();
  let hasBegun = false;
  let end: { error?: unknown; failed: boolean } | undefined;

  const serve = () => {
    while (asking.length > 0 && (kept.length > 0 || end !== undefined)) {
      const asker = asking.shift();
      if (kept.length > 0) asker?.resolve({ done: false, value: kept.shift() as T });
      else if (end?.failed === true) {
        asker?.reject(end.error);
        end = { failed: false };
      } else asker?.resolve({ done: true, value: undefined });
    }
  };
  const finish = (how: { error?: unknown; failed: boolean }) => {
    end ??= how;
    serve();
  };
  const begin = () => {
    hasBegun = true;
    subscribeWithin(subscription, source, {
      next: (value) => {
        kept.push(value);
        serve();
      },
      error: (error: unknown) => finish({ error, failed: true }),
      complete: () => finish({ failed: false }),
    });
  };
  const stop = () => {
    kept.length = 0;
    finish({ failed: false });
    subscription.unsubscribe();
    return Promise.resolve({ done: true as const, value: undefined });
  };

  return {
    next: () =>
      new Promise((resolve, reject) => {
        asking.push({ resolve, reject });
        if (!hasBegun) begin();
        serve();
      }),
    return: stop,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** An `AsyncIterableIterator`, whose further type parameters came with TypeScript 5.6. */
interface Iteration<T> extends AsyncIterator<T, undefined, undefined> {
  [Symbol.asyncIterator](): Iteration<T>;
}

/**
 * Subscribes with a subscriber that is added to `owner` before the source emits anything. So a source that emits while it is
 * being subscribed, such as an endless one, is left as soon as `owner` is unsubscribed; adding the subscription afterwards
 * would be too late. If `owner` is closed, nothing is subscribed.
 */
export function subscribeWithin<T>(
  owner: Subscription,
  source: Observable<T>,
  observer: Partial<Observer<T>>,
): Subscription {
  return new Observable<T>((subscriber) => {
    owner.add(subscriber);
    if (!subscriber.closed) source.subscribe(subscriber);
  }).subscribe(observer);
}
