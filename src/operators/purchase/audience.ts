import type { Observer, Subscriber } from 'rxjs';

/** Those who watch one stream, told of all that comes after them; its end is told to who comes later as well. */
export class Audience<T> implements Observer<T> {
  /** Never changed, but replaced: who joins or leaves while a value is told does not disturb the telling. */
  private watchers: readonly Subscriber<T>[] = [];
  private end: ((watcher: Subscriber<T>) => void) | undefined;

  join(watcher: Subscriber<T>): void {
    if (this.end !== undefined) return this.end(watcher);
    this.watchers = [...this.watchers, watcher];
    watcher.add(() => (this.watchers = this.watchers.filter((other) => other !== watcher)));
  }

  next(value: T): void {
    for (const watcher of this.watchers) watcher.next(value);
  }

  error(error: unknown): void {
    this.close((watcher) => watcher.error(error));
  }

  complete(): void {
    this.close((watcher) => watcher.complete());
  }

  private close(end: (watcher: Subscriber<T>) => void): void {
    const { watchers } = this;
    this.end = end;
    this.watchers = [];
    for (const watcher of watchers) end(watcher);
  }
}
