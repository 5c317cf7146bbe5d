import { Observable, Subscription, type Observer, type OperatorFunction } from 'rxjs';
import { checkNames } from '../../contract/check-option.js';
import { MillraceError } from '../../contract/millrace-error.js';
import type { JobEvent, Outcome } from '../../contract/outcome.js';
import { shareRun } from '../share-run.js';
import { subscribeWithin } from '../iterate.js';
import { checkFanOut, FanOut, type OnError } from './fan-out.js';
import type { RowOutcome } from './row-slot.js';

/** Options of `mergeJobs`. */
export interface MergeOptions {
  /** Rows in flight. */
  concurrency: number;
  /** If more rows than this wait for a slot, the stream errors. @defaultValue 1_000 */
  maxBuffered?: number | undefined;
  /**
   * What happens to rows in flight after an error. `drain`: the source is left and no waiting row is begun; rows in flight are
   * followed to their end and emitted, then the stream errors with the first error. `stop`: the stream errors at once.
   * @defaultValue 'drain'
   */
  onError?: OnError | undefined;
  /** How many of the last outcomes a later subscriber receives first, from 0. @defaultValue 100 */
  replay?: number | undefined;
}

/**
 * Runs a job for each row of a source that cannot be pulled: at most `maxBuffered` rows wait in memory for a free slot; one
 * more errors the stream with code `too-many-waiting`. For a source that can be iterated use `pullJobs`, which buffers nothing.
 * Emits in order of completion; a failed row is a value. Unsubscribing leaves the source at once, even while it emits, and no
 * waiting row is bought. See `onError` for errors.
 *
 * It is one run for all subscribers, as with `pullJobs`: a subscriber after all have left continues with the jobs in flight and
 * the waiting rows. If the source has not ended by then, it is subscribed again: unless it is shared, it begins anew and its
 * rows are bought again. After the error of a job (such as a failed save, see `saveWith`) the run continues only if the source
 * has ended.
 * @throws InvalidOptionError
 */
export function mergeJobs<T, O>(
  project: (row: T) => Observable<JobEvent<O>>,
  options: MergeOptions,
): OperatorFunction<T, { row: T; outcome: Outcome<O> }> {
  checkNames(options, 'mergeJobs', ['concurrency', 'maxBuffered', 'onError', 'replay']);
  const { concurrency, maxBuffered = 1_000, onError, replay = 100 } = options;
  checkFanOut({ project, concurrency, maxBuffered, replay, onError });
  return (rows) => {
    const waiting = new Queue<T>();
    let input = new Subscription();
    let ended = false;
    const feed = {
      take: () => waiting.shift() ?? (ended ? { done: true as const, value: undefined } : undefined),
      close: () => input.unsubscribe(),
      canGoOn: () => ended,
    };
    const slots = new FanOut<T, O>(feed, { project, onError });
    const source: Observer<T> = {
      next: (row) => {
        waiting.push(row);
        slots.fill();
        if (waiting.length > maxBuffered) slots.fail(tooMany(maxBuffered, concurrency));
      },
      error: (error: unknown) => {
        ended = true;
        slots.fail(error);
      },
      complete: () => {
        ended = true;
        slots.fill();
      },
    };
    return new Observable<RowOutcome<T, O>>((subscriber) => {
      input = new Subscription();
      slots.play(subscriber, concurrency);
      if (!ended && !subscriber.closed) subscribeWithin(input, rows, source);
    }).pipe(shareRun({ replay }));
  };
}

function tooMany(maxBuffered: number, concurrency: number): MillraceError {
  const message = `mergeJobs: more than ${maxBuffered} rows wait for ${concurrency} slots; raise concurrency or maxBuffered, or pull the rows with pullJobs`;
  return new MillraceError('too-many-waiting', message);
}

/** First in, first out, without moving the waiting items. */
class Queue<T> {
  private items: { done: false; value: T }[] = [];
  private head = 0;

  get length(): number {
    return this.items.length - this.head;
  }

  push(value: T): void {
    this.items.push({ done: false, value });
  }

  shift(): { done: false; value: T } | undefined {
    const item = this.items[this.head];
    if (item === undefined) return undefined;
    this.head += 1;
    if (this.head * 2 > this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }
}
