import { reasonOf, remedyOf } from './disk-reason.js';
import { JournalError } from './journal-error.js';

/** The disk's own errors say neither which file nor what to do. A `JournalError` stays as it is. */
export function journalFault(path: string, doing: 'opened' | 'read', cause: unknown): JournalError {
  if (cause instanceof JournalError) return cause;
  const { code, message } = cause as NodeJS.ErrnoException;
  const what = `The journal ${path} cannot be ${doing}: ${reasonOf(code) ?? message}.`;
  const sent = doing === 'opened' ? ' Nothing was sent.' : '';
  const text = `${what}${sent} ${remedyOf(code)} and run the same command again.`;
  return new JournalError('journal-io', text, { errno: code, cause });
}
