import { Observable, type MonoTypeOperatorFunction, type Observer, type Subscriber } from 'rxjs';
import { Audience } from './audience.js';

/**
 * Runs the source once and to its end, whoever unsubscribes meanwhile; who subscribes later joins it, and after its end
 * is told only that it ended. For what must not be cut off or done twice: a paid POST with the marks around it.
 *
 * @param watch is told everything first, also when nobody is subscribed any more
 */
export function uninterrupted<T>(watch?: Observer<T>): MonoTypeOperatorFunction<T> {
  return (source) => {
    const scene = new Scene(source, watch);
    return new Observable((subscriber) => scene.join(subscriber));
  };
}

class Scene<T> implements Observer<T> {
  private readonly audience = new Audience<T>();
  private hasBegun = false;

  constructor(
    private readonly source: Observable<T>,
    private readonly watch: Observer<T> | undefined,
  ) {}

  join(subscriber: Subscriber<T>): void {
    this.audience.join(subscriber);
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.source.subscribe(this);
  }

  next(value: T): void {
    this.watch?.next(value);
    this.audience.next(value);
  }

  error(error: unknown): void {
    this.watch?.error(error);
    this.audience.error(error);
  }

  complete(): void {
    this.watch?.complete();
    this.audience.complete();
  }
}
