import { EMPTY, Subscription, type Observer, type Subscriber } from 'rxjs';
import { InvalidOptionError } from '../contract/millrace-error.js';
import { flow, type Steps } from './flow.js';

export interface ExecutionConfig<T> {
  /** Starts the execution, or goes on where it stopped; what has ended ends at once. */
  readonly resume: (run: Observer<T> & Subscription) => void;
  /** How many of the last events a later subscriber receives first. */
  readonly replay: number;
  /** Called with each event once, before any subscriber, also while nobody is subscribed. */
  readonly emitted?: (event: T) => void;
  /** Called when the last subscriber has left, and again when a critical section ends without subscribers. */
  readonly left?: () => void;
}

/**
 * One execution for all its subscribers, which can be left and resumed. Without subscribers it stops: at once, or at the
 * end of the critical section that it is in. The next subscriber receives the last events and resumes it. An error within
 * a critical section is final.
 *
 * Without critical sections it is `share` with a `ReplaySubject` that outlives its connections.
 */
export class SharedExecution<T> implements Observer<T> {
  /** Never changed, but replaced: a subscriber that joins or leaves during an emission does not disturb it. */
  private subscribers: readonly Subscriber<T>[] = [];
  private readonly recent: T[] = [];
  /** Where the oldest of the recent events is. */
  private oldest = 0;
  private run: Run<T> | undefined;
  private isCritical = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(private readonly config: ExecutionConfig<T>) {
    const { replay } = config;
    if (!(replay >= 0)) throw new InvalidOptionError('replay', `is no number from 0 on (got ${replay})`);
  }

  get isSubscribed(): boolean {
    return this.subscribers.length > 0;
  }

  join(subscriber: Subscriber<T>, replay = this.config.replay): void {
    if (this.failure !== undefined) return subscriber.error(this.failure.error);
    this.subscribers = [...this.subscribers, subscriber];
    subscriber.add(() => this.leave(subscriber));
    if (replay > 0 && this.recent.length > 0) this.repeatRecent(subscriber);
    if (this.run === undefined && this.isSubscribed) this.start(this.config.resume);
  }

  /** Steps of a flow that run to their end even if every subscriber leaves. */
  *critical(steps: Steps<T>): Steps<T> {
    this.isCritical = true;
    yield* steps;
    this.isCritical = false;
    if (this.isSubscribed) return;
    this.stop();
    // Nothing of the flow runs behind this.
    yield EMPTY;
  }

  /** Runs a critical section without subscribers, unless the execution has some or is in another section. */
  runAlone(steps: () => Steps<T>): void {
    if (!this.isSubscribed && this.run === undefined)
      this.start((run) => void flow(() => this.critical(steps())).subscribe(run));
  }

  next(event: T): void {
    const { subscribers, recent, config } = this;
    if (recent.length < config.replay) recent.push(event);
    else if (config.replay > 0) {
      recent[this.oldest] = event;
      this.oldest = (this.oldest + 1) % config.replay;
    }
    config.emitted?.(event);
    for (const subscriber of subscribers) subscriber.next(event);
  }

  error(error: unknown): void {
    if (this.isCritical) this.failure = { error };
    for (const subscriber of this.end()) subscriber.error(error);
    if (!this.isSubscribed) this.config.left?.();
  }

  complete(): void {
    for (const subscriber of this.end()) subscriber.complete();
  }

  private repeatRecent(subscriber: Subscriber<T>): void {
    const { recent, oldest } = this;
    for (const event of [...recent.slice(oldest), ...recent.slice(0, oldest)]) subscriber.next(event);
  }

  /** The run is known before it emits anything, so that one that ends at once can be left. */
  private start(resume: ExecutionConfig<T>['resume']): void {
    this.run = new Run(this);
    resume(this.run);
  }

  private end(): readonly Subscriber<T>[] {
    const { subscribers } = this;
    this.subscribers = [];
    this.run = undefined;
    return subscribers;
  }

  private leave(subscriber: Subscriber<T>): void {
    if (!this.subscribers.includes(subscriber)) return;
    this.subscribers = this.subscribers.filter((other) => other !== subscriber);
    if (!this.isSubscribed) this.stop();
  }

  private stop(): void {
    const { run } = this;
    if (!this.isCritical) {
      this.run = undefined;
      run?.unsubscribe();
    }
    this.config.left?.();
  }
}

/** From the first subscriber to the last, or to the end of a critical section. */
class Run<T> extends Subscription implements Observer<T> {
  constructor(private readonly execution: Observer<T>) {
    super();
  }

  next(event: T): void {
    if (!this.closed) this.execution.next(event);
  }

  error(error: unknown): void {
    if (!this.closed) this.end(() => this.execution.error(error));
  }

  complete(): void {
    if (!this.closed) this.end(() => this.execution.complete());
  }

  private end(notify: () => void): void {
    try {
      notify();
    } finally {
      this.unsubscribe();
    }
  }
}
