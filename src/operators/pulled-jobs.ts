import {
  BehaviorSubject,
  combineLatest,
  connect,
  defer,
  filter,
  isObservable,
  last,
  map,
  NEVER,
  Observable,
  startWith,
  takeUntil,
  tap,
} from 'rxjs';
import type { RowOutcome } from './fan-out.js';
import { iterate } from './iterate.js';

/**
 * The outcomes of a fan-out: a stream, and an async iterable, so that `for await`, `Readable.from` and `pipeline` take it.
 * In an iteration a slot is free when its outcome has been taken: who reads slowly is sent no more than `concurrency` rows
 * ahead. Each iteration, like each subscription, begins anew.
 */
export interface PulledJobs<T, O> extends Observable<RowOutcome<T, O>>, AsyncIterable<RowOutcome<T, O>> {
  /** The fan-out once more, at the pace of its reader. `return()`, which `break` calls, unsubscribes every job. */
  [Symbol.asyncIterator](): AsyncIterator<RowOutcome<T, O>, undefined, undefined>;
}

type Slots = number | Observable<number>;

/** @param pull the fan-out over so many slots, cold */
export function asPulledJobs<T, O>(
  pull: (slots: Slots) => Observable<RowOutcome<T, O>>,
  slots: Slots,
): PulledJobs<T, O> {
  return new Pulled(pull, slots);
}

class Pulled<T, O> extends Observable<RowOutcome<T, O>> implements PulledJobs<T, O> {
  constructor(
    private readonly pull: (slots: Slots) => Observable<RowOutcome<T, O>>,
    private readonly slots: Slots,
  ) {
    const outcomes = pull(slots);
    super((subscriber) => outcomes.subscribe(subscriber));
  }

  [Symbol.asyncIterator](): AsyncIterator<RowOutcome<T, O>, undefined, undefined> {
    const untaken = new BehaviorSubject(0);
    const slots = isObservable(this.slots) ? this.slots : NEVER.pipe(startWith(this.slots));
    const free = slots.pipe(
      connect((all) => combineLatest([all, untaken]).pipe(map(left), takeUntil(endAtZero(all)))),
    );
    const outcomes = defer(() => this.pull(free)).pipe(tap(() => untaken.next(untaken.value + 1)));
    const iterator = iterate(outcomes);
    return {
      async next() {
        const result = await iterator.next();
        if (result.done !== true) untaken.next(untaken.value - 1);
        return result;
      },
      return: async () => (await iterator.return?.()) ?? { done: true, value: undefined },
    };
  }
}

/** What is left of the slots; a number that is none stays so, and is told of. */
function left([slots, kept]: [slots: number, kept: number]): number {
  return slots >= kept ? slots - kept : Math.min(slots, 0);
}

/** From then on no outcome that is taken frees a slot: the fan-out is told that no more will come. */
function endAtZero(slots: Observable<number>): Observable<number> {
  return slots.pipe(
    last(undefined, 0),
    filter((slot) => slot === 0),
  );
}
