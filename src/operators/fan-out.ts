import {
  distinctUntilChanged,
  isObservable,
  type Observable,
  type Observer,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import { MillraceError } from '../contract/millrace-error.js';
import type { JobEvent, Outcome } from '../contract/outcome.js';
import { asInvalidRow } from './to-outcome.js';

/** How a row of a fan-out ended. `index` counts the rows from 0 in the order in which they were taken. */
export interface RowOutcome<T, O> {
  row: T;
  index: number;
  outcome: Outcome<O>;
}

/** Where the rows of a fan-out come from. */
export interface Feed<T> {
  /** Asked only when a slot is free. `undefined`: nothing now; `fill` is called when there may be. */
  take(): IteratorResult<T, unknown> | undefined;
  /** Called once, when the fan-out ends before the rows do. */
  close(): void;
}

export interface FanOutOptions<T, O> {
  project: (row: T, index: number) => Observable<JobEvent<O>>;
  concurrency: number | Observable<number>;
}

/**
 * The slots of a fan-out and the loop that fills them. The loop is a trampoline: jobs that end at once do not nest,
 * however many there are.
 */
export class FanOut<T, O> {
  private readonly running = new Set<Subscription>();
  private active = 0;
  private limit = 0;
  private taken = 0;
  private exhausted = false;
  private filling = false;

  constructor(
    private readonly feed: Feed<T>,
    private readonly options: FanOutOptions<T, O>,
    readonly subscriber: Subscriber<RowOutcome<T, O>>,
  ) {
    subscriber.add(() => this.close());
  }

  start(): void {
    const { concurrency } = this.options;
    if (isObservable(concurrency)) this.follow(concurrency);
    else this.resize(concurrency);
  }

  /** Takes rows while slots are free. */
  fill(): void {
    if (this.filling) return;
    this.filling = true;
    while (this.active < this.limit && !this.exhausted && !this.subscriber.closed && this.startNext());
    this.filling = false;
    if (this.exhausted && this.active === 0) this.subscriber.complete();
  }

  fail(error: unknown): void {
    this.subscriber.error(error);
  }

  /** Called by a slot. */
  free(slot: Slot<T, O>): void {
    this.active -= 1;
    if (slot.subscription !== undefined) this.running.delete(slot.subscription);
    const { row, index, outcome } = slot;
    if (outcome !== undefined) this.tell({ row, index, outcome });
    this.fill();
  }

  /** Whoever hears of an outcome may change the number of slots: that is acted on when everybody has heard. */
  private tell(outcome: RowOutcome<T, O>): void {
    const { filling } = this;
    this.filling = true;
    this.subscriber.next(outcome);
    this.filling = filling;
  }

  private startNext(): boolean {
    try {
      const taken = this.feed.take();
      if (taken === undefined) return false;
      if (taken.done === true) this.exhausted = true;
      else this.startJob(taken.value);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  private startJob(row: T): void {
    const slot = new Slot<T, O>(this, row, this.taken++);
    const job = this.options.project(row, slot.index);
    this.active += 1;
    const subscription = job.subscribe(slot);
    if (subscription.closed) return;
    if (this.subscriber.closed) {
      subscription.unsubscribe();
      return;
    }
    slot.subscription = subscription;
    this.running.add(subscription);
  }

  private follow(concurrency: Observable<number>): void {
    const sizes = concurrency.pipe(distinctUntilChanged()).subscribe({
      next: (slots) => this.resize(slots),
      error: (error: unknown) => this.fail(error),
      complete: () => {
        if (this.limit === 0 && !this.exhausted)
          this.fail(new MillraceError('usage', 'concurrency ended at 0: the rows left could never be taken'));
      },
    });
    this.subscriber.add(sizes);
  }

  private resize(slots: number): void {
    if (slots === Number.POSITIVE_INFINITY || (Number.isInteger(slots) && slots >= 0)) {
      this.limit = slots;
      this.fill();
    } else this.fail(new MillraceError('usage', `concurrency is a whole number from 0, not ${slots}`));
  }

  private close(): void {
    for (const subscription of this.running) subscription.unsubscribe();
    this.running.clear();
    if (!this.exhausted) this.feed.close();
  }
}

/** One row on its way. Freed when its job completes, not before. */
class Slot<T, O> implements Observer<JobEvent<O>> {
  outcome: Outcome<O> | undefined;
  subscription: Subscription | undefined;

  constructor(
    private readonly owner: FanOut<T, O>,
    readonly row: T,
    readonly index: number,
  ) {}

  next(event: JobEvent<O>): void {
    if (event.type === 'settled') this.outcome = event.outcome;
  }

  error(error: unknown): void {
    this.outcome = asInvalidRow(error);
    if (this.outcome === undefined) this.owner.fail(error);
    else this.owner.free(this);
  }

  complete(): void {
    this.owner.free(this);
  }
}
