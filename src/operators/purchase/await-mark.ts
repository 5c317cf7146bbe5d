import { defer, EMPTY, ignoreElements, type Observable } from 'rxjs';
import type { Checkpoint, CheckpointEvent } from '../../contract/outcome.js';

/** Completes when the mark is durable; at once where there is no checkpoint. */
export function awaitMark<O>(
  checkpoint: Checkpoint<O> | undefined,
  mark: CheckpointEvent<O>,
): Observable<never> {
  return checkpoint === undefined ? EMPTY : defer(() => checkpoint(mark)).pipe(ignoreElements());
}
