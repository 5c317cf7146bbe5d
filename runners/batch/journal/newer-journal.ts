import { JournalError } from './journal-error.js';
import { journalFormat } from './line/encode-record.js';

/** A file of a format that is not known yet. */
export function newerFormat(format: number): JournalError {
  return newer(`is of format ${format}, and this millrace reads up to ${journalFormat}`);
}

export function unknownKind(kind: string): JournalError {
  return unknownWord('record kind', kind);
}

/** A row whose state is not understood might be taken for one that may be bought: better not to go on. */
export function unknownWord(what: string, word: string): JournalError {
  return newer(`has the ${what} "${word}", which this millrace does not know`);
}

function newer(what: string): JournalError {
  return new JournalError(
    'journal-newer',
    `The journal ${what}: it was written by a newer one; go on with that.`,
  );
}
