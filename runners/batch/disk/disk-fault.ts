import { errorText, MillraceError } from '../../../src/contract/millrace-error.js';

/** The disk failed on one of the run's files other than the journal: exit code 74. */
export class DiskFault extends MillraceError {
  static override readonly name: string = 'DiskFault';

  /** What happened, without the path. */
  readonly reason: string;

  constructor(
    readonly path: string,
    /** The system's error code, if there is one: ENOSPC, EIO, EROFS … */
    readonly errno: string | undefined,
    cause: unknown,
  ) {
    const reason = reasonOf(errno) ?? errorText(cause);
    super('disk', `${path}: ${reason}`, { cause });
    this.reason = reason;
  }
}

/** Adds the file's path to a disk error, which does not name it. Other errors are rethrown as they are. */
export async function onDisk<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DiskFault || !isOfTheDisk(error)) throw error;
    throw new DiskFault(path, error.code, error);
  }
}

/** For `catch` of work that only the disk can fail at: any error is one of the disk. */
export function diskFaultAt(path: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof DiskFault
      ? error
      : new DiskFault(path, (error as NodeJS.ErrnoException).code, error);
  };
}

/** Error codes of connections. Disks, including network file systems, fail with the system's other codes. */
const connectionCodes = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'ENOTCONN', 'ENOTFOUND', 'EPIPE', 'EPROTO'],
  ...['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EADDRINUSE', 'EADDRNOTAVAIL'],
]);

/** libuv's name for codes that it does not know, such as a stale handle of a network file system or an exhausted quota. */
const unnamed = /^Unknown system error -\d+$/;

/** Whether an error comes from the disk. The system's codes are in capitals; those of millrace are not. */
export function isOfTheDisk(error: unknown): error is NodeJS.ErrnoException {
  const code: unknown = (error as { code?: unknown } | undefined)?.code;
  if (typeof code !== 'string') return false;
  const isSystems = /^E[A-Z0-9]+$/.test(code) || unnamed.test(code);
  return (isSystems && !connectionCodes.has(code)) || code === 'not-a-file';
}

const reasons: Readonly<Record<string, readonly [reason: string, remedy: string]>> = {
  ENOSPC: ['no space is left on the disk (ENOSPC)', 'Free some space'],
  EDQUOT: ['the disk quota is used up (EDQUOT)', 'Free some space'],
  EFBIG: [
    'the file has reached the largest size that is allowed here (EFBIG)',
    'Raise the limit (ulimit -f)',
  ],
  EROFS: ['the file system is read-only (EROFS)', 'Make it writable'],
  EACCES: ['this user has no right to it (EACCES)', 'Give that right'],
  EPERM: ['this user has no right to it (EPERM)', 'Give that right'],
  EMFILE: ['too many files are open in this process (EMFILE)', 'Raise the limit (ulimit -n)'],
  ENFILE: ['too many files are open on this machine (ENFILE)', 'Close some'],
  EIO: ['the disk reports a fault (EIO)', 'Check the disk'],
  ELOOP: ['it is a link that leads to itself (ELOOP)', 'Mend the link'],
  ENAMETOOLONG: ['its name is too long for this file system (ENAMETOOLONG)', 'Choose a shorter one'],
  EISDIR: ['it is a folder, not a file (EISDIR)', 'Move it away'],
  ENOTDIR: [
    'a part of its path is a file, not a folder (ENOTDIR)',
    'Move that file away (for a new run, another --out does too)',
  ],
};

/** libuv has no name for an exhausted quota: these are the system's numbers on Linux, and on macOS and the BSDs. */
const quota = new Set(['Unknown system error -122', 'Unknown system error -69']);

function nameOf(code: string): string {
  return quota.has(code) ? 'EDQUOT' : code;
}

/** Whether the disk, or this user's quota on it, is full. */
export function isOfRoom(code: string | undefined): boolean {
  return code !== undefined && ['ENOSPC', 'EDQUOT'].includes(nameOf(code));
}

/** A system error in words; `undefined` for rare ones. */
export function reasonOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : reasons[nameOf(code)]?.[0];
}

/** The system's code of an error that comes from the disk. */
export function diskCodeOf(error: unknown): string | undefined {
  if (error instanceof DiskFault) return error.errno;
  return isOfTheDisk(error) ? error.code : undefined;
}

/** The remedy, to be followed by "and run the same command again". */
export function remedyOf(code: string | undefined): string {
  return (code === undefined ? undefined : reasons[nameOf(code)]?.[1]) ?? 'Put it right';
}
