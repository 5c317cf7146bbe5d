import { Observable, type Observer, type Subscriber } from 'rxjs';
import { Audience } from './audience.js';

/** One run of the source for all subscribers at a time; who comes late is told the last event first. */
export function joinedByAll<T>(events: Observable<T>): Observable<T> {
  let running: Running<T> | undefined;
  const forget = () => (running = undefined);
  return new Observable((subscriber) => (running ??= new Running(events, forget)).join(subscriber));
}

/** As `share` with a `ReplaySubject` would do it, which every job would pay several times for. */
class Running<T> implements Observer<T> {
  private readonly audience = new Audience<T>();
  private last: { readonly value: T } | undefined;
  private source: Subscriber<T> | undefined;
  private watchers = 0;
  private hasEnded = false;

  constructor(
    private readonly events: Observable<T>,
    private readonly forget: () => void,
  ) {}

  join(subscriber: Subscriber<T>): void {
    this.watchers += 1;
    subscriber.add(() => this.left());
    if (this.last !== undefined) subscriber.next(this.last.value);
    this.audience.join(subscriber);
    if (this.source === undefined && this.watchers > 0 && !this.hasEnded) this.begin();
  }

  next(value: T): void {
    this.last = { value };
    this.audience.next(value);
  }

  error(error: unknown): void {
    this.hasEnded = true;
    this.forget();
    this.audience.error(error);
  }

  complete(): void {
    this.hasEnded = true;
    this.audience.complete();
  }

  private begin(): void {
    // The subscriber is kept before anything is emitted: what emits at once can be left at once.
    new Observable<T>((source) => {
      this.source = source;
      this.events.subscribe(source);
    }).subscribe(this);
  }

  private left(): void {
    this.watchers -= 1;
    if (this.watchers > 0 || this.hasEnded) return;
    this.hasEnded = true;
    this.forget();
    this.source?.unsubscribe();
  }
}
