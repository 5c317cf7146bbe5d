import { combineLatest, filter, Observable, takeUntil, type MonoTypeOperatorFunction } from 'rxjs';
import type { JobEvent } from '../../../src/contract/outcome.js';
import type { RowInFlight, RowProgress } from '../row/row-in-flight.js';
import { isRead } from '../row/task.js';
import type { Leaving, Stops } from '../stop/stops.js';

/**
 * Leaves a row when the run stops and the row can be gone on with by a later start: before its POST, or once its id is
 * journalled. A reply on its way is paid for and is awaited, unless nothing is any more. A row whose job has ended is never
 * left: its outcome may be in the journal, and then its lines have to follow.
 */
export function untilLeft<T>(row: RowInFlight, stops: Stops): MonoTypeOperatorFunction<T> {
  const isLeft = combineLatest([row.progress$, stops.leaving$]).pipe(
    filter(([progress, leaving]) => leaving !== undefined && isLeftIn(progress, leaving)),
  );
  return takeUntil(isLeft);
}

const leavingOf: Partial<Record<RowProgress['status'], Leaving>> = {
  open: 'submits',
  sent: 'answers',
  accepted: 'polls',
};

function isLeftIn({ status, isOver, facts }: RowProgress, leaving: ReadonlySet<Leaving>): boolean {
  // What is free to repeat is left at once.
  const what = status === 'sent' && isRead(facts) ? 'submits' : leavingOf[status];
  return !isOver && what !== undefined && leaving.has(what);
}

/**
 * Goes on without a subscriber where it must: a POST that has left is awaited until its answer is durable, and what follows
 * from the end of a job is done.
 */
export function untilDurable(row: RowInFlight): MonoTypeOperatorFunction<JobEvent<unknown>> {
  return (events) =>
    new Observable((subscriber) => {
      let sent: number | undefined;
      const mustGoOn = ({ status, isOver, attempts, facts }: RowProgress): boolean =>
        isOver || (status === 'sent' && sent === attempts && !isRead(facts));
      const inner = events.subscribe({
        next: (event) => {
          if (event.type === 'submitting') sent = row.progress.attempts;
          subscriber.next(event);
        },
        error: (error: unknown) => subscriber.error(error),
        complete: () => subscriber.complete(),
      });
      return () => {
        const isDone = row.progress$.pipe(filter((progress) => !mustGoOn(progress)));
        inner.add(isDone.subscribe(() => inner.unsubscribe()));
      };
    });
}
