import { distinctUntilChanged, isObservable, Subscription, type Observable, type Observer } from 'rxjs';
import { checkFunction, checkNumber } from '../../contract/check-option.js';
import { InvalidOptionError, MillraceError } from '../../contract/millrace-error.js';
import type { JobEvent } from '../../contract/outcome.js';
import { checkJob, factsOf } from '../job.js';
import { subscribeWithin } from '../iterate.js';
import type { Feed } from './row-feed.js';
import { Slot, type RowOutcome } from './row-slot.js';

/**
 * What happens to the rows in flight, whose jobs may be paid, after an error of the source, `project`, a job or
 * `concurrency`. `drain`: no more rows are taken, those in flight are followed to their end and emitted, then the stream
 * errors. `stop`: the stream errors at once, and the jobs in flight are left to their `onUnsubscribe`.
 */
export type OnError = 'drain' | 'stop';

const onErrors: ReadonlySet<string> = new Set<OnError>(['drain', 'stop']);

export interface FanOutOptions<T, O> {
  project: (row: T, index: number) => Observable<JobEvent<O>>;
  onError?: OnError | undefined;
}

interface Checked {
  readonly project: unknown;
  readonly concurrency: Slots;
  readonly replay: number;
  readonly maxBuffered?: number;
  readonly onError?: OnError | undefined;
}

/** Checks the options before anything is bought. @throws InvalidOptionError */
export function checkFanOut({
  project,
  concurrency,
  replay,
  maxBuffered = 0,
  onError = 'drain',
}: Checked): void {
  checkFunction('project', project);
  if (!isObservable(concurrency) && !isSlots(concurrency)) throw noSlots(concurrency);
  checkNumber('replay', replay, 'number from 0 on');
  checkNumber('maxBuffered', maxBuffered, 'number from 0 on');
  if (!onErrors.has(onError))
    throw new InvalidOptionError('onError', `is neither drain nor stop (got ${onError})`);
}

function isSlots(slots: unknown): slots is number {
  return typeof slots === 'number' && (slots === Infinity || (Number.isInteger(slots) && slots >= 0));
}

function noSlots(slots: unknown): InvalidOptionError {
  return new InvalidOptionError('concurrency', `is not a whole number from 0 (got ${String(slots)})`);
}

/** A subscriber as an observer, with whether it has left. */
export type Sink<V> = Observer<V> & Subscription;

/** How many rows may be in flight. */
export type Slots = number | Observable<number>;

/**
 * The slots of a fan-out and the loop that fills them: one run, for one subscriber at a time. When the subscriber
 * leaves, the run stops; the next subscriber continues with the jobs in flight and the rows after them. The loop is a
 * trampoline, so that jobs that end synchronously do not nest, however many there are. User code runs in `take`,
 * `project`, a job and `subscriber.next`. Each of these may end the fan-out, make it fail or change the number of slots,
 * so the loop checks all three after each of them.
 */
export class FanOut<T, O> {
  private readonly running = new Set<Slot<T, O>>();
  /** The slot whose job is being subscribed. Most slots whose job ends synchronously never enter the set. */
  private starting: Slot<T, O> | undefined;
  /** Slots that were in flight when the run was left. */
  private parked: Slot<T, O>[] = [];
  /** Rows whose jobs the next subscriber joins again: those that errored, and those projected after that. */
  private again: Slot<T, O>[] = [];
  private subscriber: Sink<RowOutcome<T, O>> | undefined;
  private sizes = new Subscription();
  private active = 0;
  private limit = 0;
  private taken = 0;
  /** A row that arrived after its slot was removed, or after the run was left. */
  private held: IteratorYieldResult<T> | undefined;
  private takesRows = true;
  private hasAll = false;
  /** Why the run ended. After an end that is not final, the next subscriber continues it. */
  private failure: { readonly error: unknown; readonly isFinal: boolean } | undefined;
  private filling = false;

  constructor(
    private readonly feed: Feed<T>,
    private readonly options: FanOutOptions<T, O>,
  ) {}

  /** Begins or continues the run, until the subscriber leaves. */
  play(subscriber: Sink<RowOutcome<T, O>>, slots: Slots): void {
    if (this.failure?.isFinal === false) this.recover();
    else if (this.failure !== undefined && this.options.onError === 'stop')
      return subscriber.error(this.failure.error);
    this.subscriber = subscriber;
    // `retry` subscribes again inside the error notification, before its earlier subscriber is torn down.
    subscriber.add(() => {
      if (this.subscriber === subscriber) this.leave();
    });
    this.resume();
    if (subscriber.closed) return;
    if (isObservable(slots)) this.follow(slots);
    else this.resize(slots);
    this.fill();
  }

  /** Takes rows while slots are free. */
  fill(): void {
    if (this.filling) return;
    this.filling = true;
    while (this.mayTake() && this.active < this.limit && this.startNext());
    this.filling = false;
    this.endWhenDone();
  }

  /** Only the first error counts. After the error of a job the next subscriber continues; any other error ends the run. */
  fail(error: unknown, isFinal = true): void {
    if (this.failure !== undefined) return;
    this.failure = { error, isFinal };
    if (this.options.onError === 'stop') return this.subscriber?.error(error);
    this.stopTaking();
    if (!this.filling) this.endWhenDone();
  }

  /** Called by a slot whose job has ended. */
  free(slot: Slot<T, O>): void {
    this.active -= 1;
    if (slot !== this.starting) this.running.delete(slot);
    const { row, index, outcome, failure } = slot;
    if (outcome !== undefined) this.emit({ row, index, outcome });
    else if (failure !== undefined) this.again.push(slot);
    if (failure !== undefined) this.fail(failure.error, !this.canGoOn(slot));
    this.fill();
  }

  /**
   * Emits an outcome. If a subscriber changes the number of slots, the change takes effect once all subscribers have
   * received the outcome.
   */
  private emit(outcome: RowOutcome<T, O>): void {
    const { filling } = this;
    this.filling = true;
    this.subscriber?.next(outcome);
    this.filling = filling;
  }

  private mayTake(): boolean {
    return this.takesRows && this.subscriber !== undefined;
  }

  /** Starts the next row. Returns whether to try another one. */
  private startNext(): boolean {
    try {
      const taken = this.held ?? this.feed.take();
      this.held = undefined;
      if (taken === undefined) return false;
      if (taken.done === true) {
        this.hasAll = true;
        this.takesRows = false;
      } else if (this.mayTake() && this.active < this.limit) this.startJob(taken.value);
      else this.held = taken;
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  private startJob(row: T): void {
    const index = this.taken++;
    const job = this.options.project(row, index);
    checkJob('project', job);
    const slot = new Slot<T, O>(this, row, index, job);
    if (this.mayTake()) this.subscribe(slot);
    else if (this.takesRows) this.parked.push(slot);
    else this.again.push(slot);
  }

  private subscribe(slot: Slot<T, O>): void {
    this.active += 1;
    this.starting = slot;
    try {
      slot.job.subscribe(slot);
    } catch (error) {
      slot.error(error);
    }
    this.starting = undefined;
    if (!slot.closed) this.running.add(slot);
  }

  /** Whether another subscriber may join the job and take the rows after it, without buying anything again. */
  private canGoOn({ job }: Slot<T, O>): boolean {
    return factsOf(job) !== undefined && (this.hasAll || this.feed.canGoOn());
  }

  private recover(): void {
    this.failure = undefined;
    this.takesRows = !this.hasAll;
    this.parked.push(...this.again.splice(0));
  }

  /** Joins the jobs that were in flight; they are not bought again. */
  private resume(): void {
    this.filling = true;
    for (let slot = this.parked.shift(); slot !== undefined; slot = this.parked.shift()) {
      this.subscribe(new Slot(this, slot.row, slot.index, slot.job));
      if (this.subscriber === undefined) break;
    }
    this.filling = false;
  }

  private follow(concurrency: Observable<number>): void {
    this.sizes.unsubscribe();
    this.sizes = new Subscription();
    subscribeWithin(this.sizes, concurrency.pipe(distinctUntilChanged()), {
      next: (slots) => this.resize(slots),
      error: (error: unknown) => this.fail(error),
      complete: () => {
        if (this.limit === 0 && this.takesRows)
          this.fail(
            new MillraceError('usage', 'concurrency ended at 0: the remaining rows could never be taken'),
          );
      },
    });
  }

  private resize(slots: number): void {
    if (!isSlots(slots)) return this.fail(noSlots(slots));
    this.limit = slots;
    this.fill();
  }

  private endWhenDone(): void {
    if (this.takesRows || this.active > 0 || this.parked.length > 0) return;
    if (this.failure === undefined) this.subscriber?.complete();
    else this.subscriber?.error(this.failure.error);
  }

  private stopTaking(): void {
    if (!this.takesRows) return;
    this.takesRows = false;
    if (this.failure?.isFinal === true) this.held = undefined;
    this.sizes.unsubscribe();
    this.feed.close();
  }

  /** Also called at the end, when nothing is left to do. */
  private leave(): void {
    this.subscriber = undefined;
    this.sizes.unsubscribe();
    const jobs = new Subscription();
    if (this.starting?.closed === false) this.running.add(this.starting);
    for (const slot of this.running) {
      // Leaving one job may end another.
      slot.isLeft = true;
      jobs.add(slot);
    }
    this.parked.push(...this.running);
    this.running.clear();
    this.active = 0;
    if (this.takesRows) this.feed.close();
    jobs.unsubscribe();
  }
}
