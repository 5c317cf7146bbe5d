import { reasonOf, remedyOf } from './disk-reason.js';
import { JournalError } from './journal-error.js';

/** The disk's errors say neither which file nor what to do: turns them into a `JournalError` that does. */
export async function withReason<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof JournalError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const text = `The journal ${path} cannot be opened: ${reasonOf(code) ?? message}. Nothing was sent. ${remedyOf(code)} and run the same command again.`;
    throw new JournalError('journal-io', text, { errno: code, cause });
  }
}
