import { filter, firstValueFrom, merge, type Observable } from 'rxjs';
import { stopForFault } from '../stop/exit-of.js';
import type { Stops } from '../stop/stops.js';

/** At most this many tasks are set aside in memory; the tasks after them wait. */
const mostAside = 1_000;

interface AsideOptions<T> {
  /** Called for each task, and again after each of `changes`. */
  readonly mayStart: (task: T) => boolean;
  readonly changes: Observable<unknown>;
  readonly stops: Pick<Stops, 'isStopping' | 'leaving$' | 'stop'>;
}

/**
 * Emits the tasks that may start, in their order, and sets the others aside until they may. Ends when the tasks have ended and
 * none is set aside, or when the run stops, which leaves the others for a later start. An error of the tasks stops the run like
 * an error of a row: replies on their way are paid for and awaited.
 */
export async function* settingAside<T>(
  tasks: AsyncIterable<T>,
  { mayStart, changes, stops }: AsideOptions<T>,
): AsyncGenerator<T, void, void> {
  const source = tasks[Symbol.asyncIterator]();
  const aside: T[] = [];
  let next: Promise<IteratorResult<T>> | undefined;
  let isOpen = true;
  try {
    while (isOpen || aside.length > 0) {
      if (aside.length > 0 && stops.isStopping) return;
      const index = aside.findIndex(mayStart);
      if (index >= 0) {
        yield* aside.splice(index, 1);
        continue;
      }
      if (isOpen && aside.length < mostAside) next ??= source.next();
      const taken = await (aside.length === 0 ? next : unlessChanged(next, changes, stops));
      if (taken === undefined) continue;
      next = undefined;
      if (taken.done === true) isOpen = false;
      else if (mayStart(taken.value)) yield taken.value;
      else aside.push(taken.value);
    }
  } catch (error) {
    stopForFault(stops, error);
    throw error;
  } finally {
    next?.catch(() => undefined);
    if (isOpen) source.return?.().catch(() => undefined);
  }
}

/** Resolves to the next task, or to `undefined` if something changes first. */
function unlessChanged<T>(
  next: Promise<T> | undefined,
  changes: Observable<unknown>,
  stops: AsideOptions<T>['stops'],
): Promise<T | undefined> {
  const stopped = stops.leaving$.pipe(filter(() => stops.isStopping));
  const changed = firstValueFrom(merge(changes, stopped), { defaultValue: undefined }).then(() => undefined);
  return next === undefined ? changed : Promise.race([next, changed]);
}
