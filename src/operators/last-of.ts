import { from, type ObservableInput } from 'rxjs';
import { Heard } from './in-turn.js';

/**
 * For generators that are played by `inTurn`: `const value = yield* lastOf(source)` goes on when the source has completed,
 * with its last value, or with `undefined` when there was none.
 */
export function* lastOf<T>(source: ObservableInput<T>): Generator<Heard<never>, T | undefined> {
  // What is at hand needs no stream.
  if (Array.isArray(source)) return (source as T[]).at(-1);
  let last: T | undefined;
  yield Heard.of<T, never>(from(source), (value) => {
    last = value;
    return undefined;
  });
  return last;
}
