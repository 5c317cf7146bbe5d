import { catchError, EMPTY, throwError, type MonoTypeOperatorFunction } from 'rxjs';
import { JournalError } from '../journal/journal-error.js';
import { describeFault } from './describe-fault.js';
import { exitOf } from './exit-of.js';
import type { RunLog } from '../log/open-log.js';
import type { Stops } from './stops.js';

/**
 * An error that is no row's outcome stops the run, but not what is paid for and on its way: other rows' replies are
 * awaited and journalled. Only without a journal there is nothing to wait for.
 */
export function containFault<T>(
  { log, stops }: { readonly log: RunLog; readonly stops: Stops },
  id: string,
): MonoTypeOperatorFunction<T> {
  return catchError((error: unknown) => {
    if (error instanceof JournalError) return throwError(() => error);
    log.write('fatal', { id, err: describeFault(error) }, 'the row is left as it is, and the run stops');
    stops.stop({ ...exitOf(error), leaves: ['submits', 'polls', 'saves'] });
    return EMPTY;
  });
}
