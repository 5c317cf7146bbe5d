import { catchError, EMPTY, throwError, type MonoTypeOperatorFunction } from 'rxjs';
import { isMillraceError } from '../../../src/contract/millrace-error.js';
import { stopCauses } from './stop-causes.js';
import { exitCodes, type RunEnd } from './worst-end.js';
import { JournalError } from '../journal/journal-error.js';
import { isOfTheDisk } from '../disk/disk-fault.js';
import type { RunLog } from '../log/open-log.js';
import type { Stops } from './stops.js';

/** What a run ends with that an error ended, or kept from starting. */
export function exitOf(error: unknown): RunEnd {
  const reason = error instanceof Error ? error.message : String(error);
  const isSystems = !isMillraceError(error) && isOfTheDisk(error);
  const exitCode = isMillraceError(error) ? exitCodes[error.code] : isSystems ? 74 : undefined;
  // What millrace says of a file of its own has its advice already; what the system says has none.
  if (isSystems || (isMillraceError(error) && error.code === 'disk')) return stopCauses.diskFailed(reason);
  if (exitCode !== undefined) return { exitCode, reason };
  return {
    exitCode: 70,
    reason: `This is a fault of millrace itself: ${reason}. What has been done is kept; run.log has the details.`,
  };
}

/** An error for the log: its message and its stack alone, because errors of other packages may carry headers. */
export function describeFault(error: unknown): { message: string; stack?: string | undefined } {
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
}

interface Faulty {
  readonly log: RunLog;
  readonly stops: Stops;
}

/**
 * An error that is not a row's outcome stops the run, but not what is paid for and on its way: other rows' replies are
 * awaited and journalled.
 */
export function noteFault({ log, stops }: Faulty, id: string, error: unknown): void {
  log.write('fatal', { id, err: describeFault(error) }, 'the row is left as it is, and the run stops');
  stops.stop({ ...exitOf(error), leaves: ['open', 'accepted', 'replied'] });
}

/** Such an error ends the row alone. Only without a journal there is nothing to wait for. */
export function containFault<T>(faulty: Faulty, id: string): MonoTypeOperatorFunction<T> {
  return catchError((error: unknown) => {
    if (error instanceof JournalError) return throwError(() => error);
    noteFault(faulty, id, error);
    return EMPTY;
  });
}

/** A disk that fails stops the run: what is durable in the journal is lost nowhere. */
export function noteDiskFault({ stops }: { readonly stops: Stops }, error: unknown): void {
  stops.stop(stopCauses.diskFailed(error instanceof Error ? error.message : String(error)));
}
