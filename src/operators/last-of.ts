import { from, Observable, type ObservableInput } from 'rxjs';

/**
 * For generators that are played by `inTurn`: `const value = yield* lastOf(source)` goes on when the source has completed,
 * with its last value, or with `undefined` when there was none.
 */
export function* lastOf<T>(source: ObservableInput<T>): Generator<Observable<never>, T | undefined> {
  let last: T | undefined;
  yield new Observable<never>((subscriber) =>
    from(source).subscribe({
      next: (value) => (last = value),
      error: (error: unknown) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  );
  return last;
}
