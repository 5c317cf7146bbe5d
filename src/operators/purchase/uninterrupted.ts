import { Observable, Subject, type MonoTypeOperatorFunction, type Observer } from 'rxjs';

/**
 * Runs the source once and to its end, whoever unsubscribes meanwhile; who subscribes later joins it, and after its end
 * is told only that it ended. For what must not be cut off or done twice: a paid POST with the marks around it.
 *
 * @param watch is told everything first, also when nobody is subscribed any more
 */
export function uninterrupted<T>(watch?: Observer<T>): MonoTypeOperatorFunction<T> {
  return (source) => {
    const heard = new Subject<T>();
    let hasBegun = false;
    return new Observable((subscriber) => {
      heard.subscribe(subscriber);
      if (hasBegun) return;
      hasBegun = true;
      source.subscribe(watch === undefined ? heard : both(watch, heard));
    });
  };
}

function both<T>(one: Observer<T>, other: Observer<T>): Observer<T> {
  return {
    next(value) {
      one.next(value);
      other.next(value);
    },
    error(error) {
      one.error(error);
      other.error(error);
    },
    complete() {
      one.complete();
      other.complete();
    },
  };
}
