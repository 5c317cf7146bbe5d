import { defer, EMPTY, ignoreElements, type Observable } from 'rxjs';
import type { Checkpoint, Mark } from '../../contract/checkpoint.js';

/** Completes when the mark is durable; at once where there is no checkpoint. */
export function awaitMark<O>(checkpoint: Checkpoint<O> | undefined, mark: Mark<O>): Observable<never> {
  return checkpoint === undefined ? EMPTY : defer(() => checkpoint(mark)).pipe(ignoreElements());
}
