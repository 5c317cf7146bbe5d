import { MillraceError } from '../../../src/contract/millrace-error.js';

/**
 * `journal-broken`: something in the middle cannot be read; `--repair` goes on without it.
 * `journal-newer`: written by a newer millrace.
 * `journal-io`: the disk failed; nothing after `offset` counts, and nothing more is written by this process.
 */
export type JournalErrorCode = 'journal-broken' | 'journal-newer' | 'journal-io';

/** The journal cannot be read or written: exit 74. */
export class JournalError extends MillraceError {
  static override readonly name: string = 'JournalError';
  declare readonly code: JournalErrorCode;
  /** Byte of the file where it happened. */
  readonly offset: number | undefined;
  /** 1-based line, where one is to blame. */
  readonly line: number | undefined;
  /** The system's code, where there is one: ENOSPC, EIO, EFBIG, EROFS, EMFILE … */
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
