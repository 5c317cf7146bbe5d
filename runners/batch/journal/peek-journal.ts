import type { Disk } from '../disk/disk.js';
import { journalFault } from './journal-fault.js';
import { journalPath } from './journal-path.js';
import { readJournal, RecoveredJournal } from './recovered-journal.js';
import type { JournalReader } from './recovered-journal.js';

/**
 * What a journal holds, also while another process writes it. Changes nothing; a record that is just being written is
 * passed over. `undefined` where the folder has none.
 *
 * @throws {JournalError} `journal-broken`, `journal-newer`, `journal-io`.
 */
export async function peekJournal(disk: Disk, folder: string): Promise<JournalReader | undefined> {
  const path = journalPath(folder);
  try {
    if ((await disk.stat(path)) === undefined) return undefined;
    return new RecoveredJournal(disk, path, await readJournal(disk, path));
  } catch (error) {
    throw journalFault(path, 'read', error);
  }
}
