import { share, Subject, type MonoTypeOperatorFunction } from 'rxjs';

/**
 * Runs the source once and to its end, whoever unsubscribes meanwhile; who subscribes later joins it, and after its end
 * is told only that it ended. For what must not be cut off or done twice: a paid POST with the marks around it.
 */
export function uninterrupted<T>(): MonoTypeOperatorFunction<T> {
  return share({
    connector: () => new Subject<T>(),
    resetOnRefCountZero: false,
    resetOnComplete: false,
    resetOnError: false,
  });
}
