import { defer, EMPTY, ignoreElements, type Observable } from 'rxjs';
import type { Checkpoint, CheckpointEvent, Failed } from '../../contract/outcome.js';

/** Completes when the mark is durable; at once where there is no checkpoint. */
export function awaitMark<O>(
  checkpoint: Checkpoint<O> | undefined,
  mark: CheckpointEvent<O>,
): Observable<never> {
  return checkpoint === undefined ? EMPTY : defer(() => checkpoint(mark)).pipe(ignoreElements());
}

/** The mark that gives a reservation back. */
export function refusalOf({ message, httpStatus }: Failed): CheckpointEvent<never> {
  return { type: 'refused', why: message, ...(httpStatus !== undefined && { httpStatus }) };
}
