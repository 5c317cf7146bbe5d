import {
  from,
  Observable,
  type MonoTypeOperatorFunction,
  type ObservableInput,
  type Observer,
  type SchedulerLike,
  type Subscriber,
  type Subscription,
} from 'rxjs';
import { callAt } from './call-at.js';

export interface DeadlineConfig<T> {
  /** In ms since the epoch, by the scheduler. With a time that is past the source is not subscribed at all. */
  at: number;
  /** What follows when the source has not ended by then. */
  otherwise: () => ObservableInput<T>;
  scheduler: SchedulerLike;
}

/**
 * Gives the source up at a point in time and goes on with something else. A source that ends before is passed through;
 * one that ends at once sets no timer.
 */
export function deadline<T>(config: DeadlineConfig<T>): MonoTypeOperatorFunction<T> {
  return (source) => new Observable((subscriber) => new Bounded(config, subscriber).begin(source));
}

/** One subscription: what it passes on comes through itself, as every job pays for each closure. */
class Bounded<T> implements Observer<T> {
  private running: Subscription | undefined;

  constructor(
    private readonly config: DeadlineConfig<T>,
    private readonly subscriber: Subscriber<T>,
  ) {}

  begin(source: Observable<T>): void {
    const { at, scheduler } = this.config;
    if (at <= scheduler.now()) return this.giveUp();
    this.running = source.subscribe(this);
    this.subscriber.add(this.running);
    if (!this.subscriber.closed) this.subscriber.add(callAt(at, scheduler, () => this.giveUp()));
  }

  next(value: T): void {
    this.subscriber.next(value);
  }

  error(error: unknown): void {
    this.subscriber.error(error);
  }

  complete(): void {
    this.subscriber.complete();
  }

  private giveUp(): void {
    this.running?.unsubscribe();
    try {
      from(this.config.otherwise()).subscribe(this.subscriber);
    } catch (error) {
      this.subscriber.error(error);
    }
  }
}
