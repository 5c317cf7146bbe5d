import { MillraceError } from '../../../src/contract/millrace-error.js';
import { reasonOf, remedyOf } from '../disk/disk-fault.js';
import type { Owner } from './owner.js';

/**
 * `held`: another process has the run (exit 75). `lock-unavailable`: no lock can be had here. `lock-io`: the disk failed.
 * `moved`: the folder went away under an earlier run, and was not put back. `copied`: the run has gone on elsewhere (these exit 74).
 */
export type LockErrorCode = 'held' | 'lock-unavailable' | 'lock-io' | 'moved' | 'copied';

export class LockError extends MillraceError {
  static override readonly name: string = 'LockError';
  declare readonly code: LockErrorCode;

  constructor(
    code: LockErrorCode,
    message: string,
    /** Who has the run, where that is known. */
    readonly owner?: Owner,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** The disk refuses one of the files that a run is held by, before anything is sent. */
export function lockFault(what: string, doing: 'opened' | 'written', cause: unknown): LockError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const text = `${what} cannot be ${doing}: ${reasonOf(code) ?? message}. Nothing was sent. ${remedyOf(code)} and run the same command again.`;
  return new LockError('lock-io', text, undefined, { cause });
}
