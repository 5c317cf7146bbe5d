import type { Disk, DiskFile } from '../disk/disk.js';
import { readLines } from '../disk/read-lines.js';
import { journalFault, JournalError } from './journal-error.js';
import { decodeRecord, hasGoodChecksum } from './line/record-line.js';
import type { JournalRecord } from './record.js';

export interface RecordRange {
  /** Byte after the last record. A line that is not ended before it is passed over: it is being written. */
  readonly to?: number;
  /** How many records to skip. @defaultValue 0 */
  readonly after?: number;
  /** Where a record in front of them begins, and how many stand before it. @defaultValue the first one */
  readonly start?: { readonly offset: number; readonly records: number };
}

/**
 * The records of a journal in order, in flat memory.
 *
 * @throws {JournalError} `journal-broken` at a line that is no record.
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
