import { folderOf, type Disk, type DiskFile } from '../disk/disk.js';
import { openAppendFile, type AppendFile } from '../disk/append-file.js';
import { journalFault, JournalError } from './journal-error.js';
import type { CostByChoices } from '../row/totals.js';
import { GroupCommit } from './group-commit.js';
import { type Journal, journalPath } from './journal.js';
import type { RecoveredFile } from './recover.js';
import { readJournal, RecoveredJournal, type Found } from './recovered-journal.js';
import { repairJournal } from './repair-journal.js';
import { saveSnapshot } from './journal-snapshot.js';

/** Options of `openJournal`. */
export interface OpenJournalOptions extends CostByChoices {
  /** If the file is damaged, continue with every record that can be read; no effect on a sound file. @defaultValue false */
  readonly repair?: boolean | undefined;
  /** Clock for a `repaired` record, in ms since the epoch. @defaultValue Date.now */
  readonly now?: (() => number) | undefined;
  /** A new snapshot is written after this many bytes. @defaultValue 16 MiB */
  readonly snapshotEvery?: number | undefined;
  /** Called when the disk is full; resolves to whether there is room for a record now. @defaultValue resolves to false */
  readonly makeRoom?: (() => Promise<boolean>) | undefined;
}

/**
 * Opens the journal of a run, creates it if it is missing, and reads what earlier starts left. The caller must hold the
 * run's lock: two writers would damage the journal.
 *
 * @throws {JournalError} `journal-broken`, `journal-newer`, `journal-io`.
 */
export async function openJournal(
  disk: Disk,
  folder: string,
  options: OpenJournalOptions = {},
): Promise<Journal> {
  const path = journalPath(folder);
  try {
    if ((await disk.stat(folder)) === undefined) await disk.mkdir(folder);
    if ((await disk.stat(path)) === undefined) await openAppendFile(disk, path).then((file) => file.close());
    return await openFound(disk, folder, await readOrRepair(disk, path, options), options);
  } catch (error) {
    throw journalFault(path, 'opened', error);
  }
}

async function openFound(
  disk: Disk,
  folder: string,
  found: Found,
  { snapshotEvery, makeRoom }: OpenJournalOptions,
): Promise<Journal> {
  const path = journalPath(folder);
  const file = await openAppendFile(disk, path, found.goodEnd);
  try {
    await cutTornTail(file, found);
    await syncNames(disk, folder, found);
    await saveSnapshot(disk, path, found, snapshotEvery);
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
  return new FileJournal(disk, path, { file, found, makeRoom });
}

async function readOrRepair(disk: Disk, path: string, options: OpenJournalOptions): Promise<Found> {
  const { repair = false, now = Date.now } = options;
  try {
    return await readJournal(disk, path, options);
  } catch (error) {
    if (!repair || !(error instanceof JournalError) || error.code !== 'journal-broken') throw error;
    await repairJournal(disk, path, now);
    return readJournal(disk, path, options);
  }
}

/** Syncs in any case: what was read may not have been durable yet when the last process died. */
async function cutTornTail(
  file: AppendFile,
  { tornBytes, newlineMissing, goodEnd }: RecoveredFile,
): Promise<void> {
  if (tornBytes > 0) await file.cutTo(goodEnd);
  if (newlineMissing) await file.append(Buffer.from('\n'));
  await file.sync();
}

/** The process that created the folder or the file, or renamed a repaired one, may have died before the name was durable. */
async function syncNames(disk: Disk, folder: string, { recovery }: RecoveredFile): Promise<void> {
  await disk.syncFolder(folder);
  if (recovery.facts.records === 0) await disk.syncFolder(folderOf(folder));
}

interface OpenedFile extends Pick<OpenJournalOptions, 'makeRoom'> {
  readonly file: AppendFile;
  readonly found: Found;
}

class FileJournal extends RecoveredJournal implements Journal {
  private readonly file: AppendFile;
  private readonly commits: GroupCommit;

  constructor(
    disk: Disk,
    path: string,
    { file, found, makeRoom = () => Promise.resolve(false) }: OpenedFile,
  ) {
    super(disk, path, found);
    this.file = file;
    this.commits = new GroupCommit(file, path, found.recovery.facts.records, makeRoom);
  }

  append(record: Parameters<Journal['append']>[0]): ReturnType<Journal['append']> {
    return this.commits.append(record);
  }

  override records(after = 0): ReturnType<Journal['records']> {
    return this.recordsTo(this.file.synced, after);
  }

  close(): Promise<void> {
    return this.commits.close();
  }

  /** The open file is used, because thousands of rows are looked up when failed rows are reopened. */
  protected override reading<T>(read: (file: Pick<DiskFile, 'read'>) => Promise<T>): Promise<T> {
    return read(this.file);
  }
}
