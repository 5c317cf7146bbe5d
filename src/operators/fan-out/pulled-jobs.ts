import {
  BehaviorSubject,
  combineLatest,
  concat,
  connect,
  defer,
  filter,
  from,
  isObservable,
  last,
  map,
  NEVER,
  Observable,
  startWith,
  takeUntil,
  tap,
} from 'rxjs';
import { iterate } from '../iterate.js';
import type { Sink, Slots } from './fan-out.js';
import type { RowOutcome } from './row-slot.js';
import { shareRun } from '../share-run.js';

/**
 * The outcomes of a fan-out: a stream, and an async iterable, so that `for await`, `Readable.from` and `pipeline` take it. All
 * subscriptions and iterations share one run. In an iteration a slot becomes free when the reader takes its outcome, so at most
 * `concurrency` rows are sent ahead of a slow reader.
 */
export interface PulledJobs<T, O> extends Observable<RowOutcome<T, O>>, AsyncIterable<RowOutcome<T, O>> {
  /**
   * Iterates the run at the speed of its reader. `return()`, which `break` calls, leaves the run; a later iteration
   * continues with the outcomes that were not taken, the jobs in flight and the rows after them.
   */
  [Symbol.asyncIterator](): AsyncIterator<RowOutcome<T, O>, undefined, undefined>;
}

type Play<T, O> = (subscriber: Sink<RowOutcome<T, O>>, slots: Slots) => void;

/** @param play begins or continues the run with these slots */
export function asPulledJobs<T, O>(play: Play<T, O>, slots: Slots, replay: number): PulledJobs<T, O> {
  const reading = new Reading<T, O>(slots);
  const recent = new Recent<RowOutcome<T, O>>(replay);
  const run = new Observable<RowOutcome<T, O>>((subscriber) =>
    play(subscriber, reading.isOn ? reading.slots : slots),
  ).pipe(
    tap((outcome) => recent.add(outcome)),
    shareRun({ replay: 0 }),
  );
  return new Pulled(run, recent, reading);
}

class Pulled<T, O> extends Observable<RowOutcome<T, O>> implements PulledJobs<T, O> {
  constructor(
    private readonly run: Observable<RowOutcome<T, O>>,
    recent: Recent<RowOutcome<T, O>>,
    private readonly reading: Reading<T, O>,
  ) {
    super((subscriber) => concat(recent.values, run).subscribe(subscriber));
  }

  [Symbol.asyncIterator](): AsyncIterator<RowOutcome<T, O>, undefined, undefined> {
    return this.reading.begin(this.run);
  }
}

/** The last values of a run, for later subscribers. */
class Recent<T> {
  private readonly kept: T[] = [];

  constructor(private readonly limit: number) {}

  get values(): Observable<T> {
    return defer(() => from([...this.kept]));
  }

  add(value: T): void {
    this.kept.push(value);
    if (this.kept.length > this.limit) this.kept.shift();
  }
}

/** The iterations of a run, and the outcomes that they have not taken yet. */
class Reading<T, O> {
  private readonly untaken = new BehaviorSubject(0);
  private readonly readers = new Set<RowOutcome<T, O>[]>();
  /** The outcomes that the last reader had not taken when it left. */
  private rest: RowOutcome<T, O>[] = [];
  /** The slots of the run, minus those whose outcomes wait for the slowest reader. */
  readonly slots: Observable<number>;

  constructor(slots: Slots) {
    const all = isObservable(slots) ? slots : NEVER.pipe(startWith(slots));
    this.slots = all.pipe(
      connect((shared) =>
        combineLatest([shared, this.untaken]).pipe(map(left), takeUntil(endAtZero(shared))),
      ),
    );
  }

  get isOn(): boolean {
    return this.readers.size > 0;
  }

  begin(run: Observable<RowOutcome<T, O>>): AsyncIterator<RowOutcome<T, O>, undefined, undefined> {
    const kept: RowOutcome<T, O>[] = [];
    const outcomes = defer(() => {
      this.readers.add(kept);
      kept.push(...this.rest.splice(0));
      this.count();
      return concat(from([...kept]), run.pipe(map((outcome) => this.keep(kept, outcome))));
    });
    const iterator = iterate(outcomes);
    return {
      next: async () => {
        const result = await iterator.next();
        if (result.done !== true) kept.shift();
        this.count();
        return result;
      },
      return: async () => {
        const result = await iterator.return?.();
        if (this.readers.delete(kept) && !this.isOn) this.rest = kept;
        // The outcomes that it had not taken hold back the other readers no more.
        this.count();
        return result ?? { done: true, value: undefined };
      },
    };
  }

  private keep(kept: RowOutcome<T, O>[], outcome: RowOutcome<T, O>): RowOutcome<T, O> {
    kept.push(outcome);
    this.count();
    return outcome;
  }

  private count(): void {
    const most = Math.max(0, ...[...this.readers].map((kept) => kept.length));
    if (most !== this.untaken.value) this.untaken.next(most);
  }
}

/** The remaining slots; an invalid number is passed on, and errors the run. */
function left([slots, kept]: [slots: number, kept: number]): number {
  return slots >= kept ? slots - kept : Math.min(slots, 0);
}

/** Emits once if the number of slots ends at zero: taken outcomes free no slots then, so the fan-out must end. */
function endAtZero(slots: Observable<number>): Observable<number> {
  return slots.pipe(
    last(undefined, 0),
    filter((slot) => slot === 0),
  );
}
