import { Observable, Subject, type Subscriber } from 'rxjs';

/** One run of the source for all subscribers at a time; who comes late is told the last event first. */
export function joinedByAll<T>(events: Observable<T>): Observable<T> {
  let running: Running<T> | undefined;
  const forget = () => (running = undefined);
  return new Observable((subscriber) => (running ??= new Running(events, forget)).join(subscriber));
}

/** As `share` with a `ReplaySubject` would do it, which every job would pay several times for. */
class Running<T> {
  private readonly heard = new Subject<T>();
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
    this.heard.subscribe(subscriber);
    if (this.source === undefined && this.watchers > 0 && !this.hasEnded) this.begin();
  }

  private begin(): void {
    // The subscriber is kept before anything is emitted: what emits at once can be left at once.
    new Observable<T>((source) => {
      this.source = source;
      this.events.subscribe(source);
    }).subscribe({
      next: (value) => {
        this.last = { value };
        this.heard.next(value);
      },
      error: (error: unknown) => {
        this.hasEnded = true;
        this.forget();
        this.heard.error(error);
      },
      complete: () => {
        this.hasEnded = true;
        this.heard.complete();
      },
    });
  }

  private left(): void {
    this.watchers -= 1;
    if (this.watchers > 0 || this.hasEnded) return;
    this.hasEnded = true;
    this.forget();
    this.source?.unsubscribe();
  }
}
