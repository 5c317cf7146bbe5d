import { openAppendFile } from '../disk/append-file.js';
import type { AppendFile } from '../disk/append-file.js';
import type { Disk, DiskFile } from '../disk/disk.js';
import { GroupCommit, reasonOf, remedyOf } from './group-commit.js';
import { JournalError } from './journal-error.js';
import type { Journal, Recovered, RowRecords } from './journal.js';
import type { RowStatus } from './row-status.js';
import { readPending, readRow } from './read-row.js';
import { readRecords } from './read-records.js';
import { recover } from './recover.js';
import type { RecoveredFile } from './recover.js';
import { repairJournal } from './repair-journal.js';

export interface OpenJournalOptions {
  /** Go on with every record that can be read where the file is damaged; no effect on a sound one. @defaultValue false */
  readonly repair?: boolean;
  /** Clock of a `repaired` record, ms since the epoch. @defaultValue Date.now */
  readonly now?: () => number;
}

/** The journal's place in a run's folder. */
export function journalPath(folder: string): string {
  return `${folder}/journal.jsonl`;
}

/**
 * Opens the journal of a run, makes it when it is missing, and reads what earlier starts left. The caller holds the run's
 * lock: two writers would break it.
 *
 * @throws {JournalError} `journal-broken`, `journal-newer`, `journal-io`.
 */
export async function openJournal(
  disk: Disk,
  folder: string,
  options: OpenJournalOptions = {},
): Promise<Journal> {
  const path = journalPath(folder);
  return withReason(path, async () => {
    await makeFolder(disk, folder);
    const found = await readOrRepair(disk, path, options);
    const file = await openAppendFile(disk, path, found.goodEnd);
    try {
      await cutTornTail(file, found);
    } catch (error) {
      await file.close().catch(() => undefined);
      throw error;
    }
    return new FileJournal(disk, path, file, found);
  });
}

/** What a journal holds, while another process may be writing it: nothing is changed. `undefined` where there is none. */
export async function peekJournal(
  disk: Disk,
  folder: string,
): Promise<Pick<Journal, 'recovered' | 'records' | 'rowsIn' | 'find'> | undefined> {
  const path = journalPath(folder);
  return withReason(path, async () => {
    if ((await disk.stat(path)) === undefined) return undefined;
    return new ReadJournal(disk, path, await readAll(disk, path));
  });
}

interface Found extends RecoveredFile {
  readonly pending: Recovered['pending'];
}

async function readOrRepair(
  disk: Disk,
  path: string,
  { repair = false, now = Date.now }: OpenJournalOptions,
): Promise<Found> {
  if ((await disk.stat(path)) === undefined) await openAppendFile(disk, path).then((file) => file.close());
  try {
    return await readAll(disk, path);
  } catch (error) {
    if (!repair || !(error instanceof JournalError) || error.code !== 'journal-broken') throw error;
    await repairJournal(disk, path, now);
    return readAll(disk, path);
  }
}

async function readAll(disk: Disk, path: string): Promise<Found> {
  return reading(disk, path, async (file) => {
    const found = await recover(file, path);
    return { ...found, pending: await readPending(file, found.recovery) };
  });
}

async function cutTornTail(
  file: AppendFile,
  { tornBytes, newlineMissing, goodEnd }: RecoveredFile,
): Promise<void> {
  if (tornBytes > 0) await file.cutTo(goodEnd);
  if (newlineMissing) await file.append(Buffer.from('\n'));
  // Synced in any case: what was read may still have been on its way to the disk when the last process died.
  await file.sync();
}

class ReadJournal {
  readonly recovered: Recovered;

  constructor(
    protected readonly disk: Disk,
    protected readonly path: string,
    protected readonly found: Found,
  ) {
    this.recovered = recoveredOf(found);
  }

  records(): ReturnType<Journal['records']> {
    return readRecords(this.disk, this.path, this.found.goodEnd);
  }

  async *rowsIn(statuses: readonly RowStatus[]): AsyncGenerator<RowRecords, void, void> {
    const { recovery } = this.found;
    const file = await this.disk.open(this.path, 'r');
    try {
      for (let row = 0; row < recovery.table.length; row++) {
        if (statuses.includes(recovery.statusAt(row))) yield await readRow(file, recovery, row);
      }
    } finally {
      await file.close();
    }
  }

  async find(id: string): Promise<RowRecords | undefined> {
    const { recovery } = this.found;
    const row = recovery.indexOf(id);
    return row < 0 ? undefined : reading(this.disk, this.path, (file) => readRow(file, recovery, row));
  }
}

class FileJournal extends ReadJournal implements Journal {
  private readonly commits: GroupCommit;

  constructor(
    disk: Disk,
    path: string,
    private readonly file: AppendFile,
    found: Found,
  ) {
    super(disk, path, found);
    this.commits = new GroupCommit(file, path, found.recovery.records);
  }

  append(record: Parameters<Journal['append']>[0]): ReturnType<Journal['append']> {
    return this.commits.append(record);
  }

  override records(): ReturnType<Journal['records']> {
    return readRecords(this.disk, this.path, this.file.synced);
  }

  close(): Promise<void> {
    return this.commits.close();
  }
}

function recoveredOf({ recovery, pending, tornBytes }: Found): Recovered {
  const { identity, firstStartAt, lastStartAt, lastStop, heldUpToRow, starts, lastRow, rows, records } =
    recovery;
  return {
    ...{ starts, records, lastRow, rows, pending, tornBytes },
    ...(identity && { identity }),
    ...(firstStartAt !== undefined && { firstStartAt }),
    ...(lastStartAt !== undefined && { lastStartAt }),
    ...(lastStop && { lastStop }),
    ...(heldUpToRow !== undefined && { heldUpToRow }),
    totals: recovery.tally.totals(),
    attemptsOf: (id) => rows.get(id)?.attempts ?? 0,
    mustHold: (id, row) => recovery.mustHold(id, row),
  };
}

async function makeFolder(disk: Disk, folder: string): Promise<void> {
  if ((await disk.stat(folder))?.kind !== 'folder') await disk.mkdir(folder);
}

async function reading<T>(disk: Disk, path: string, read: (file: DiskFile) => Promise<T>): Promise<T> {
  const file = await disk.open(path, 'r');
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

/** The disk's errors say neither which file nor what to do. */
async function withReason<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof JournalError) throw cause;
    const { code, message } = cause as NodeJS.ErrnoException;
    const text = `The journal ${path} cannot be opened: ${reasonOf(code) ?? message}. Nothing was sent. ${remedyOf(code)} and run the same command again.`;
    throw new JournalError('journal-io', text, { errno: code, cause });
  }
}
