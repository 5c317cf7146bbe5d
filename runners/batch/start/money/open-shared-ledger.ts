import { resolve } from 'node:path';
import { folderOf, type Disk } from '../../disk/disk.js';
import { DayLedgerError } from '../../ledger/day-file.js';
import { openDayLedger, type DayLedger } from '../../ledger/day-ledger.js';
import { LockError } from '../../lock/owner.js';
import { withFileLock } from '../../lock/try-lock-file.js';

interface SharedLedgerOptions {
  readonly disk: Disk;
  readonly now: () => number;
  readonly countedBy?: () => number;
  /** The output folder: it names the run that owns the reservations. */
  readonly out: string;
  readonly path: string;
  readonly capUsd: number | undefined;
}

/** The cap of a run without one of its own: it may reserve any amount, which counts for runs that have a cap. */
const noCapUsd = 1e9;

/** Opens the ledger that runs share. Only one process at a time uses it, by a lock file beside it. */
export async function openSharedLedger(options: SharedLedgerOptions): Promise<DayLedger> {
  const { disk, now, countedBy, out, capUsd = noCapUsd } = options;
  const path = resolve(options.path);
  await disk.mkdir(folderOf(path)).catch((cause: unknown) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new DayLedgerError(`The folder of the shared ledger ${path} cannot be made: ${message}.`, code, {
      cause,
    });
  });
  const exclusively = <T>(work: () => Promise<T>): Promise<T> =>
    withFileLock(`${path}.lock`, work).catch((error: unknown) => {
      // This is not the run's own lock, and has another exit code.
      throw error instanceof LockError
        ? new DayLedgerError(error.message, undefined, { cause: error })
        : error;
    });
  return openDayLedger({
    disk,
    path,
    capUsd,
    run: resolve(out),
    exclusively,
    now,
    ...(countedBy && { countedBy }),
  });
}
