import { Subscription, type Observer, type Subscriber } from 'rxjs';
import { InvalidOptionError } from '../../contract/millrace-error.js';

/**
 * One run for all its subscribers, which can be left and gone on with: `share` with a `ReplaySubject` that outlives its
 * connections would do the same, at twice the CPU time of a fan-out over jobs that end at once.
 */
export class SharedRun<V> implements Observer<V> {
  /** Never changed, but replaced: who joins or leaves during an emission does not disturb it. */
  private subscribers: readonly Subscriber<V>[] = [];
  private readonly recent: V[] = [];
  /** Where the oldest of the recent values is. */
  private oldest = 0;
  private source: Connection<V> | undefined;

  /**
   * @param play begins the run, or goes on with it, until the subscriber leaves; after the end it ends at once
   * @param window how many of the last values a later subscriber is given
   */
  constructor(
    private readonly play: (subscriber: Observer<V> & Subscription) => void,
    private readonly window: number,
  ) {
    if (!(window >= 0)) throw new InvalidOptionError('replay', `is no number from 0 on (got ${window})`);
  }

  join(subscriber: Subscriber<V>, window = this.window): void {
    if (window > 0) this.replay(subscriber);
    if (subscriber.closed) return;
    this.subscribers = [...this.subscribers, subscriber];
    subscriber.add(() => this.leave(subscriber));
    if (this.source === undefined) this.connect();
  }

  next(value: V): void {
    if (this.recent.length < this.window) this.recent.push(value);
    else if (this.window > 0) {
      this.recent[this.oldest] = value;
      this.oldest = (this.oldest + 1) % this.window;
    }
    for (const subscriber of this.subscribers) subscriber.next(value);
  }

  error(error: unknown): void {
    for (const subscriber of this.end()) subscriber.error(error);
  }

  complete(): void {
    for (const subscriber of this.end()) subscriber.complete();
  }

  private replay(subscriber: Subscriber<V>): void {
    const { recent, oldest } = this;
    for (const value of [...recent.slice(oldest), ...recent.slice(0, oldest)]) subscriber.next(value);
  }

  /** Known before anything is emitted, so that a run that ends at once can be left. */
  private connect(): void {
    this.source = new Connection(this);
    this.play(this.source);
  }

  private end(): readonly Subscriber<V>[] {
    const { subscribers } = this;
    this.subscribers = [];
    this.source = undefined;
    return subscribers;
  }

  private leave(subscriber: Subscriber<V>): void {
    this.subscribers = this.subscribers.filter((other) => other !== subscriber);
    if (this.subscribers.length > 0) return;
    const { source } = this;
    this.source = undefined;
    source?.unsubscribe();
  }
}

/** One stay with the run, from the first subscriber to the last. */
class Connection<V> extends Subscription implements Observer<V> {
  constructor(private readonly run: SharedRun<V>) {
    super();
  }

  next(value: V): void {
    if (!this.closed) this.run.next(value);
  }

  error(error: unknown): void {
    if (!this.closed) this.end(() => this.run.error(error));
  }

  complete(): void {
    if (!this.closed) this.end(() => this.run.complete());
  }

  private end(notify: () => void): void {
    try {
      notify();
    } finally {
      this.unsubscribe();
    }
  }
}
