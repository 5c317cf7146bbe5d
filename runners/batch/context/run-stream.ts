import { finalize, Observable, ReplaySubject, share } from 'rxjs';
import { iterate } from '../../../src/operators/iterate.js';
import type { RunEvent } from './run-event.js';

/** The events of one run, as a stream and for `for await`. All subscribers share it; a late one gets the last event first. */
export class RunStream extends Observable<RunEvent> implements AsyncIterable<RunEvent> {
  /** @param abandoned called when the last subscriber has left before the end */
  constructor(events: Observable<RunEvent>, abandoned: () => void) {
    const once = events.pipe(
      share({
        connector: () => new ReplaySubject<RunEvent>(1),
        resetOnComplete: false,
        resetOnError: false,
        resetOnRefCountZero: false,
      }),
    );
    let listeners = 0;
    let hasEnded = false;
    super((subscriber) => {
      listeners++;
      const listening = once.pipe(
        finalize(() => {
          if (--listeners === 0 && !hasEnded) abandoned();
        }),
      );
      return listening.subscribe({
        next: (event) => {
          hasEnded ||= event.type === 'finished';
          subscriber.next(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
    });
  }

  /** The same events; leaving the loop is leaving the run. */
  [Symbol.asyncIterator](): AsyncIterator<RunEvent, undefined, undefined> {
    return iterate(this);
  }
}
