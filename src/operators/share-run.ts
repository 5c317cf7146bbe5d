import {
  NEVER,
  of,
  ReplaySubject,
  share,
  Subject,
  type MonoTypeOperatorFunction,
  type Observable,
} from 'rxjs';
import { checkNumber } from '../contract/check-option.js';

export interface ShareRunConfig {
  /** How many of the last values a later subscriber receives first. */
  readonly replay: number;
  /** Called when the last subscriber has left. The run stops when the result emits; without a result, at once. */
  readonly left?: () => Observable<unknown> | undefined;
  /** Whether an error is final. Otherwise the next subscriber continues. */
  readonly isFinal?: () => boolean;
}

/**
 * `share` for a stream that is one run, however often it is subscribed: the next subscriber continues a run that was
 * left, and receives the last values first; a completed run stays completed.
 */
export function shareRun<T>({ replay, left, isFinal }: ShareRunConfig): MonoTypeOperatorFunction<T> {
  checkNumber('replay', replay, 'number from 0 on');
  let before: Subject<T> | undefined;
  const connector = () => {
    if (replay === 0) return new Subject<T>();
    const next = new ReplaySubject<T>(replay);
    before?.subscribe({ next: (value) => next.next(value), error: () => undefined }).unsubscribe();
    before = next;
    return next;
  };
  return share<T>({
    connector,
    resetOnComplete: false,
    resetOnError: () => (isFinal?.() === true ? NEVER : of(true)),
    resetOnRefCountZero: () => left?.() ?? of(true),
  });
}
