import { reasonOf, remedyOf } from './disk-reason.js';
import { JournalError } from './journal-error.js';

/** The disk's own errors say neither which file nor what to do. What is no error of the disk stays as it is. */
export function journalFault(path: string, doing: 'opened' | 'read', cause: unknown): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof JournalError || code === undefined) return cause;
  const what = `The journal ${path} cannot be ${doing}: ${reasonOf(code) ?? message}.`;
  const sent = doing === 'opened' ? ' Nothing was sent.' : '';
  const text = `${what}${sent} ${remedyOf(code)} and run the same command again.`;
  return new JournalError('journal-io', text, { errno: code, cause });
}
