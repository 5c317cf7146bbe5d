import { catchError, EMPTY, throwError, type MonoTypeOperatorFunction } from 'rxjs';
import { errorText, isMillraceError } from '../../../src/contract/millrace-error.js';
import { stopCauses } from './stop-causes.js';
import { exitCodes, type RunEnd } from './worst-end.js';
import { JournalError } from '../journal/journal-error.js';
import { diskCodeOf, isOfTheDisk } from '../disk/disk-fault.js';
import type { RunLog } from '../log/open-log.js';
import type { StopCause, Stops } from './stops.js';

/** The end of a run that was ended, or prevented from starting, by an error. */
export function exitOf(error: unknown): RunEnd {
  const reason = errorText(error);
  const isSystems = !isMillraceError(error) && isOfTheDisk(error);
  const exitCode = isMillraceError(error) ? exitCodes[error.code] : isSystems ? 74 : undefined;
  // Messages of millrace about its own files already say what to do; messages of the system do not.
  if (isSystems || (isMillraceError(error) && error.code === 'disk')) return diskFailure(error);
  if (exitCode !== undefined) return { exitCode, reason };
  return {
    exitCode: 70,
    reason: `This is a fault of millrace itself: ${reason}. What has been done is kept; run.log has the details.`,
  };
}

/** An error for the log: only its message and its stack, because errors of other packages may carry headers. */
export function describeFault(error: unknown): { message: string; stack?: string | undefined } {
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
}

interface Faulty {
  readonly log: RunLog;
  readonly stops: Stops;
}

/** Notes an error that is not the outcome of its row, and stops the run for it. */
export function noteFault({ log, stops }: Faulty, id: string, error: unknown): void {
  log.write('fatal', { id, err: describeFault(error) }, 'the row is left as it is, and the run stops');
  stopForFault(stops, error);
}

/**
 * Stops the run because of an error that is not a row's outcome. Paid requests on their way are not stopped: their
 * replies are awaited and journalled.
 */
export function stopForFault(stops: Pick<Stops, 'stop'>, error: unknown): void {
  stops.stop(faultOf(error));
}

/** Stops the run before further rows are sent if that is refused, as where another run sends them. */
export async function isAllowed(stops: Pick<Stops, 'stop'>, allowed: Promise<void>): Promise<boolean> {
  try {
    await allowed;
    return true;
  } catch (error) {
    stops.stop({ ...exitOf(error), leaves: ['open'] });
    return false;
  }
}

/** Such an error as the cause of a stop. */
export function faultOf(error: unknown): StopCause {
  return { ...exitOf(error), leaves: ['open', 'accepted', 'replied'] };
}

/** An error as the reason why one process cannot go on. It stops no others. */
export function troubleOf(error: unknown): StopCause {
  return { ...exitOf(error), leaves: [] };
}

/**
 * Turns an error that is not a row's outcome into the end of that row's stream. A `JournalError` is passed on, because without
 * a journal there is nothing to wait for.
 */
export function containFault<T>(faulty: Faulty, id: string): MonoTypeOperatorFunction<T> {
  return catchError((error: unknown) => {
    if (error instanceof JournalError) return throwError(() => error);
    noteFault(faulty, id, error);
    return EMPTY;
  });
}

/** Stops the run because the disk failed; everything that is durable in the journal is safe. */
export function noteDiskFault({ stops }: { readonly stops: Stops }, error: unknown): void {
  stops.stop(diskFailure(error));
}

function diskFailure(error: unknown): StopCause {
  return stopCauses.diskFailed(errorText(error), diskCodeOf(error));
}
