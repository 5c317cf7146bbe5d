import { MillraceError } from '../../../src/contract/millrace-error.js';
import { reasonOf, remedyOf } from '../disk/disk-fault.js';
import { journalFormat } from './record.js';

/**
 * `journal-broken`: something in the middle cannot be read; `--repair` continues without it. `journal-newer`: written
 * by a newer millrace. `journal-io`: the disk failed; nothing after `offset` counts, and this process writes nothing
 * more.
 */
type JournalErrorCode = 'journal-broken' | 'journal-newer' | 'journal-io';

/** The journal cannot be read or written: exit code 74. */
export class JournalError extends MillraceError {
  static override readonly name: string = 'JournalError';
  declare readonly code: JournalErrorCode;
  /** The byte of the file where it happened. */
  readonly offset: number | undefined;
  /** The line number, counted from 1, if a line is the cause. */
  readonly line: number | undefined;
  /** The system's error code, if there is one: ENOSPC, EIO, EFBIG, EROFS, EMFILE … */
  readonly errno: string | undefined;

  constructor(
    code: JournalErrorCode,
    message: string,
    facts: { offset?: number; line?: number; errno?: string | undefined; cause?: unknown } = {},
  ) {
    super(code, message, 'cause' in facts ? { cause: facts.cause } : undefined);
    this.offset = facts.offset;
    this.line = facts.line;
    this.errno = facts.errno;
  }
}

/** Adds the file and the remedy to a disk error, which names neither. Other errors are returned as they are. */
export function journalFault(path: string, doing: 'opened' | 'read', cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof JournalError || code === undefined) return cause;
  const what = `The journal ${path} cannot be ${doing}: ${reasonOf(code) ?? message}.`;
  const sent = doing === 'opened' ? ' Nothing was sent.' : '';
  const text = `${what}${sent} ${remedyOf(code)} and run the same command again.`;
  return new JournalError('journal-io', text, { errno: code, cause });
}

/** The journal of this folder has lost records, according to other files of the run. */
export function journalWithout(folder: string, why: string): JournalError {
  const message =
    `The journal ${folder}/journal.jsonl has lost records: ${why}. The purchases in them would be made again, so nothing was sent. ` +
    'Put back the journal that belongs to these files, or run the same command with --repair: it restores what the files show, and ' +
    'holds every row that may have been bought. Or begin anew in another --out. If you wrote that line yourself, remove it.';
  return new JournalError('journal-broken', message);
}

/** The path leads to another file, or to none: a later start would not find what is bought from now on. */
export function journalMoved(path: string, offset?: number): JournalError {
  const message =
    `The journal ${path} is no longer the file that this run writes: it, or its folder, was moved, removed, changed or replaced ` +
    'by a copy while the run went on (a sync program, git, an editor, a person). Nothing more is sent. Put the folder back as it was, ' +
    'keep such programs away from it while a run goes on, and run the same command again.';
  return new JournalError('journal-io', message, offset === undefined ? {} : { offset });
}

/** The file has a format that this version does not know. */
export function newerFormat(format: number): JournalError {
  return newer(`is of format ${format}, and this millrace reads up to ${journalFormat}`);
}

export function unknownKind(kind: string): JournalError {
  return unknownWord('record kind', kind);
}

/** An unknown word ends the start: a row in a state that is not understood could be bought again. */
export function unknownWord(what: string, word: string): JournalError {
  return newer(`has the ${what} "${word}", which this millrace does not know`);
}

function newer(what: string): JournalError {
  return new JournalError(
    'journal-newer',
    `The journal ${what}: it was written by a newer millrace: continue with that version.`,
  );
}
