import type { Disk, DiskFile } from '../disk/disk.js';
import { withFile, readLines } from '../disk/read-file.js';
import { journalFault, JournalError } from './journal-error.js';
import { type Journal, type Recovered, type RowRecords, journalPath } from './journal.js';
import { bytesASnapshot, bytesBehindSnapshot, loadSnapshot, saveSnapshot } from './journal-snapshot.js';
import { recover, type RecoveredFile, type Snapshot } from './recover.js';
import { recordsAStart, Recovery } from './recovery.js';
import type { CostByChoices } from '../row/totals.js';
import { RowReader } from './row-reader.js';
import type { RowStatus } from '../row/row-status.js';
import { decodeRecord, hasGoodChecksum } from './line/record-line.js';
import type { JournalRecord } from './record.js';

const oneRowBytes = 4 << 10;
const manyRowsBytes = 64 << 10;

export interface JournalReader extends Pick<Journal, 'recovered' | 'records' | 'rowsIn' | 'find'> {
  /** Many rows, in the order of the ids; `undefined` for an id that the journal does not know. The file is opened once. */
  findAll(ids: Iterable<string>): AsyncGenerator<RowRecords | undefined, void, void>;
}

/** Each of the items with its row, in their order; without one if the journal does not know its id. */
export async function* withRows<T>(
  journal: Pick<JournalReader, 'findAll'>,
  items: readonly T[],
  idOf: (item: T) => string,
): AsyncGenerator<readonly [item: T, row: RowRecords | undefined], void, void> {
  let place = 0;
  for await (const row of journal.findAll(items.map(idOf))) yield [items[place++] as T, row];
}

export interface Found extends RecoveredFile {
  readonly pending: Recovered['pending'];
}

/**
 * Reads the file once; the part that a snapshot covers is read only for its checksum. Rows that have not ended are read
 * a second time. If money is to be added up by other columns than before, the whole file is read again.
 */
export async function readJournal(disk: Disk, path: string, choices: CostByChoices = {}): Promise<Found> {
  return withFile(disk, path, async (file) => {
    let found = await recover(file, path, await loadSnapshot(disk, path, file));
    const columns = found.recovery.otherColumns(choices);
    if (columns !== undefined) found = await recover(file, path, readingBy(columns));
    return { ...found, pending: await new RowReader(file, found, manyRowsBytes).pending() };
  });
}

function readingBy(columns: readonly string[]): Snapshot {
  const recovery = new Recovery();
  recovery.lives.tally.columns = columns;
  recovery.isGivenColumns = true;
  return { recovery, end: 0, checksum: 0 };
}

/** A journal that has been read, with access by row. */
export class RecoveredJournal implements JournalReader {
  readonly recovered: Recovered;

  constructor(
    protected readonly disk: Disk,
    protected readonly path: string,
    private readonly found: Found,
  ) {
    this.recovered = recoveredOf(found);
  }

  records(after = 0): ReturnType<Journal['records']> {
    return this.recordsTo(this.found.goodEnd, after);
  }

  protected recordsTo(to: number, after: number): ReturnType<Journal['records']> {
    const { recordStarts } = this.found.recovery.facts;
    const nearest = Math.min(Math.floor(after / recordsAStart), recordStarts.length - 1);
    const start = { offset: recordStarts[nearest] ?? 0, records: Math.max(nearest, 0) * recordsAStart };
    return readRecords(this.disk, this.path, { to, after, start });
  }

  rowsIn(statuses: readonly RowStatus[]): AsyncGenerator<RowRecords, void, void> {
    return this.readingMany((rows) => rows.rowsIn(statuses));
  }

  findAll(ids: Iterable<string>): AsyncGenerator<RowRecords | undefined, void, void> {
    const { rows: known } = this.found.recovery;
    return this.readingMany(async function* (rows) {
      for (const id of ids) {
        const row = known.indexOf(id);
        yield row < 0 ? undefined : await rows.read(row);
      }
    });
  }

  private async *readingMany<T>(
    read: (rows: RowReader) => AsyncGenerator<T, void, void>,
  ): AsyncGenerator<T, void, void> {
    try {
      const file = await this.disk.open(this.path, 'r');
      try {
        yield* read(new RowReader(file, this.found, manyRowsBytes));
      } finally {
        await file.close();
      }
    } catch (error) {
      throw journalFault(this.path, 'read', error);
    }
  }

  async find(id: string): Promise<RowRecords | undefined> {
    const row = this.found.recovery.rows.indexOf(id);
    if (row < 0) return undefined;
    try {
      return await this.reading((file) => new RowReader(file, this.found, oneRowBytes).read(row));
    } catch (error) {
      throw journalFault(this.path, 'read', error);
    }
  }

  protected reading<T>(read: (file: Pick<DiskFile, 'read'>) => Promise<T>): Promise<T> {
    return withFile(this.disk, this.path, read);
  }
}

function recoveredOf({ recovery, pending, tornBytes }: Found): Recovered {
  const { facts, rows, lives, mustHold } = recovery;
  const { lastRow, jobs, tally } = lives;
  return {
    ...facts,
    lastRow,
    rows,
    jobs,
    pending,
    tornBytes,
    mustHold,
    totals: tally.totals(),
    tally: tally.kept,
    highestReported: tally.highestReported(),
    booksOf: (id) => {
      const row = rows.indexOf(id);
      return row < 0 ? undefined : lives.booksAt(row);
    },
    attemptsOf: (id) => rows.get(id)?.attempts ?? 0,
  };
}

/**
 * Reads a journal, also while another process writes it. Changes nothing; skips a record that is just being written.
 * `undefined` if the folder has no journal.
 *
 * @param choices the columns by which money is added up, if they differ from those that the run remembers
 *
 * @throws {JournalError} `journal-broken`, `journal-newer`, `journal-io`.
 */
export async function peekJournal(
  disk: Disk,
  folder: string,
  choices: CostByChoices = {},
): Promise<JournalReader | undefined> {
  const path = journalPath(folder);
  try {
    if ((await disk.stat(path)) === undefined) return undefined;
    return new RecoveredJournal(disk, path, await readJournal(disk, path, choices));
  } catch (error) {
    throw journalFault(path, 'read', error);
  }
}

/**
 * If a run has added much to its journal, reads that part and saves a new snapshot, so that the next start need not
 * read it. All errors are ignored: the next start reports them.
 *
 * @param options.every How many bytes since the last snapshot are worth a new one.
 * @param options.share The same as a share of the whole journal; the larger of both counts. @defaultValue 0
 * @param options.onBegin Called if a snapshot is to be saved, which takes some seconds for a million rows.
 */
export async function refreshSnapshot(
  disk: Disk,
  folder: string,
  {
    every = bytesASnapshot,
    share = 0,
    onBegin,
  }: { every?: number; share?: number; onBegin?: () => void } = {},
): Promise<void> {
  const path = journalPath(folder);
  try {
    const { size = 0 } = (await disk.stat(path)) ?? {};
    const worth = Math.max(every, share * size);
    if ((await bytesBehindSnapshot(disk, path)) < worth) return;
    onBegin?.();
    await saveSnapshot(disk, path, await readJournal(disk, path), worth);
  } catch {
    // The next start then reads the whole journal.
  }
}

export interface RecordRange {
  /** The byte after the last record. A line that has no end before it is skipped, because it is still being written. */
  readonly to?: number;
  /** How many records to skip. @defaultValue 0 */
  readonly after?: number;
  /**
   * The offset of a record at or before the first one wanted, and the number of records before it. @defaultValue the
   * first record
   */
  readonly start?: { readonly offset: number; readonly records: number };
}

/**
 * The records of a journal in order, in constant memory.
 *
 * @throws {JournalError} `journal-broken` at a line that is not a record.
 */
export async function* readRecords(
  disk: Disk,
  path: string,
  range: RecordRange = {},
): AsyncGenerator<JournalRecord, void, void> {
  try {
    yield* recordsOf(await disk.open(path, 'r'), path, range);
  } catch (error) {
    throw journalFault(path, 'read', error);
  }
}

async function* recordsOf(
  file: DiskFile,
  path: string,
  { to, after = 0, start = { offset: 0, records: 0 } }: RecordRange,
): AsyncGenerator<JournalRecord, void, void> {
  try {
    let number = start.records;
    const range = { from: start.offset, ...(to !== undefined && { to }) };
    for await (const { bytes, offset, ended } of readLines(file, range)) {
      number++;
      if (number <= after) continue;
      const good = hasGoodChecksum(bytes, 0, bytes.length);
      if (!good && !ended) return;
      if (!good) throw unreadable(path, number, offset);
      yield decodeRecord(bytes).record;
    }
  } finally {
    await file.close();
  }
}

function unreadable(path: string, line: number, offset: number): JournalError {
  const message = `The journal ${path} is damaged: line ${line}, at byte ${offset}, is not a record.`;
  return new JournalError('journal-broken', message, { line, offset });
}
