import {
  defer,
  identity,
  type MonoTypeOperatorFunction,
  Observable,
  share,
  takeUntil,
  throwError,
} from 'rxjs';
import { checkMembers } from '../contract/check-option.js';

/**
 * Passes everything through until the signal aborts, then errors with its reason and unsubscribes the source. For streams
 * of many jobs; a single call takes the signal itself (`CallOptions.signal`).
 *
 * @example
 * ```ts
 * pullJobs(rows, (row) => endpoint.run(row), { concurrency: 8 }).pipe(untilAborted(AbortSignal.timeout(60_000)));
 * ```
 */
export function untilAborted<T>(signal: AbortSignal): MonoTypeOperatorFunction<T> {
  return createUntilAborted()(signal);
}

/** Passes the source through until the signal aborts; then errors with the signal's reason. */
export type UntilAborted = <T>(signal: AbortSignal | undefined) => MonoTypeOperatorFunction<T>;

/** Adds one listener per signal for all its jobs, because many jobs may share a signal and Node warns about more than ten listeners. */
export function createUntilAborted(): UntilAborted {
  const watched = new WeakMap<AbortSignal, Observable<never>>();
  const watch = (signal: AbortSignal) => {
    const known = watched.get(signal) ?? abortOf(signal);
    watched.set(signal, known);
    return known;
  };
  return (signal) => {
    if (signal === undefined) return identity;
    checkMembers('signal', signal, 'AbortSignal', ['aborted', 'addEventListener']);
    return (source) => source.pipe(takeUntil(watch(signal)));
  };
}

function abortOf(signal: AbortSignal): Observable<never> {
  const later = new Observable<never>((subscriber) => {
    const abort = () => subscriber.error(signal.reason);
    signal.addEventListener('abort', abort);
    return () => signal.removeEventListener('abort', abort);
  }).pipe(share());
  return defer(() => (signal.aborted ? throwError(() => signal.reason as unknown) : later));
}
