import type { Disk } from '../disk/disk.js';
import { JournalError } from '../journal/journal-error.js';
import { journalPath } from '../journal/journal-path.js';
import type { Journal } from '../journal/journal.js';

interface Place {
  readonly disk: Pick<Disk, 'stat'>;
  readonly folder: string;
  readonly journal: Pick<Journal, 'recovered'>;
  /** What the files were last known to tell of. */
  readonly mark?: { readonly records: number; readonly repairs?: number } | undefined;
}

/**
 * The files follow the journal and never run ahead of it. Where they do, it was removed, emptied, or put back from an
 * older copy: what it no longer tells of would be bought again, and taken out of the files.
 *
 * @throws {JournalError} `journal-broken`.
 */
export async function refuseLostJournal({ disk, folder, journal, mark }: Place): Promise<void> {
  const { records, repairs } = journal.recovered;
  const { records: told, repairs: toldRepairs = 0 } = mark ?? { records: 0 };
  if (toldRepairs > repairs || (toldRepairs === repairs && told > records))
    throw lost(folder, `summary.json was written when it held ${told} records, and it holds ${records}`);
  if (records > 0) return;
  for (const name of ['results.jsonl', 'failures.jsonl']) {
    const size = (await disk.stat(`${folder}/${name}`))?.size ?? 0;
    if (size > 0) throw lost(folder, `${name} has lines, and it tells of no row`);
  }
}

function lost(folder: string, why: string): JournalError {
  const message =
    `The journal ${journalPath(folder)} has lost records: ${why}. What they told of would be bought again, so nothing was sent. ` +
    'Put back the journal that belongs to these files, or begin anew in another --out.';
  return new JournalError('journal-broken', message);
}
