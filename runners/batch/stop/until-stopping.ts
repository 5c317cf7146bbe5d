import type { Stops } from './stops.js';

/**
 * A source that ends when the run stops, also while it waits for its next value. A Node stream is destroyed then; a
 * generator that waits is left to wait.
 */
export async function* untilStopping<T>(
  source: AsyncIterable<T> | Iterable<T>,
  stops: Pick<Stops, 'leaving$' | 'isStopping'>,
): AsyncGenerator<T, void, void> {
  const iterator =
    Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
  let wake: () => void = () => undefined;
  const watching = stops.leaving$.subscribe(() => stops.isStopping && wake());
  try {
    while (!stops.isStopping) {
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        wake = () => resolve(undefined);
        Promise.resolve(iterator.next()).then(resolve, reject);
      });
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    watching.unsubscribe();
    Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (stops.isStopping && isStream(source)) source.destroy();
  }
}

function isStream(source: object): source is { destroy(): unknown } {
  return 'destroy' in source && typeof source.destroy === 'function';
}
