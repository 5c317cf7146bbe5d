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
  ENOTDIR: ['a part of its path is a file, not a folder (ENOTDIR)', 'Choose another --out'],
};

/** A system error in words; `undefined` for one that is rare. */
export function reasonOf(code: string | undefined): string | undefined {
  return code === undefined ? undefined : reasons[code]?.[0];
}

/** What a person can do about it, to be followed by "and run the same command again". */
export function remedyOf(code: string | undefined): string {
  return (code === undefined ? undefined : reasons[code]?.[1]) ?? 'Put it right';
}
