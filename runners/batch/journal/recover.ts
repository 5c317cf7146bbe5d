import type { DiskFile } from '../disk/disk.js';
import { valueOfJson, readLineBlocks } from '../disk/read-file.js';
import { checksumOfLines } from './line/block-checksum.js';
import { hasGoodChecksum, salvage, field } from './line/record-line.js';
import { HeadScanner } from './line/head-scanner.js';
import { JournalError, newerFormat } from './journal-error.js';
import { Recovery } from './recovery.js';
import { journalFormat } from './record.js';

export interface RecoveredFile {
  readonly recovery: Recovery;
  /** Where the last good record ends, before any unfinished bytes. */
  readonly goodEnd: number;
  /** The last good record lacks its newline: the crash came between the two. */
  readonly newlineMissing: boolean;
  /** Number of bytes after `goodEnd` that are not records. */
  readonly tornBytes: number;
  /** CRC-32 of all lines that end with a newline. */
  readonly checksum: number;
  /** How many bytes were known from a snapshot. */
  readonly snapshotEnd: number;
}

/** The state after the first bytes of a journal, and the length and checksum of these bytes. */
export interface Snapshot {
  readonly recovery: Recovery;
  /** How many bytes of the journal it covers; they end with a whole line. */
  readonly end: number;
  /** The CRC-32 of these bytes. */
  readonly checksum: number;
}

const leastChunkBytes = 4 << 10;
const mostChunkBytes = 1 << 18;

/**
 * Reads a journal once, from the first byte to the last. It skips a record that was being written when the process or
 * the machine died: that record was never reported as durable, so nothing was done because of it.
 *
 * @param begun A snapshot of the first records: only the records after them are read.
 * @throws {JournalError} `journal-broken` if a record that may have been durable cannot be read; `journal-newer`.
 */
export async function recover(
  file: DiskFile,
  path: string,
  begun: Snapshot = { recovery: new Recovery(), end: 0, checksum: 0 },
): Promise<RecoveredFile> {
  const from = begun.end;
  const size = await file.size();
  const pass = new Pass(path, begun, size);
  const chunkBytes = Math.min(Math.max(size - from, leastChunkBytes), mostChunkBytes);
  for await (const { bytes, offset } of readLineBlocks(file, { chunkBytes, from })) pass.block(bytes, offset);
  pass.recovery.finish();
  return pass.result();
}

class Pass {
  readonly recovery: Recovery;
  private readonly head = new HeadScanner();
  private readonly snapshotEnd: number;
  /** The line number, which is also the record's number. */
  private line: number;
  private goodEnd: number;
  private checksum: number;
  /** Where the lines of a block end. */
  private readonly ends: number[] = [];
  private newlineMissing = false;
  private tornBytes = 0;
  private isRoomMade = false;

  constructor(
    private readonly path: string,
    { recovery, end, checksum }: Snapshot,
    private readonly size: number,
  ) {
    this.recovery = recovery;
    this.snapshotEnd = end;
    this.line = recovery.facts.records;
    this.goodEnd = end;
    this.checksum = checksum;
  }

  block(bytes: Buffer, offset: number): void {
    this.expectRows(offset);
    const end = bytes.lastIndexOf(0x0a) + 1;
    this.lines(bytes.subarray(0, end), offset);
    if (end < bytes.length) this.tail(bytes.subarray(end), offset + end);
  }

  /** Estimates the number of rows in the whole file from those read so far. */
  private expectRows(offset: number): void {
    if (this.isRoomMade || offset === 0) return;
    this.isRoomMade = true;
    const { ids } = this.recovery.table;
    ids.expect(Math.ceil((ids.length * this.size) / offset));
  }

  private lines(bytes: Buffer, offset: number): void {
    const checksum = checksumOfLines(bytes, this.checksum, this.ends);
    let start = 0;
    for (let index = 0; start < bytes.length; index++) {
      this.line++;
      const end = this.ends[index] ?? bytes.indexOf(0x0a, start);
      if (checksum === undefined && !hasGoodChecksum(bytes, start, end))
        throw this.unreadable(bytes.subarray(start, end), offset + start);
      this.record(bytes, start, end, offset + start);
      this.goodEnd = offset + end + 1;
      start = end + 1;
    }
    this.checksum = checksum ?? this.checksum;
  }

  result(): RecoveredFile {
    const { recovery, goodEnd, newlineMissing, tornBytes, checksum, snapshotEnd } = this;
    return { recovery, goodEnd, newlineMissing, tornBytes, checksum, snapshotEnd };
  }

  /** Bytes without a final newline: none of them were durable, unless whole records follow bytes that are not records. */
  private tail(bytes: Buffer, offset: number): void {
    this.line++;
    const [first, second] = salvage(bytes);
    if (first !== undefined && (first.start > 0 || second !== undefined))
      throw this.broken(offset, 'is not a record');
    this.tornBytes = bytes.length;
    if (first === undefined) return;
    this.record(bytes, 0, first.end, offset);
    this.goodEnd = offset + first.end;
    this.newlineMissing = true;
    this.tornBytes -= first.end;
  }

  private record(bytes: Buffer, start: number, end: number, offset: number): void {
    if (!this.head.scan(bytes, start, end))
      throw this.broken(offset, 'has the right checksum, but is not a record');
    const n = this.head.number(field.n);
    const expected = this.recovery.facts.records + 1;
    if (n !== expected) throw this.broken(offset, `is record ${n}, where record ${expected} was expected`);
    this.recovery.take(this.head, offset);
  }

  private unreadable(line: Buffer, offset: number): JournalError {
    const format = this.line === 1 ? formatOf(line) : undefined;
    return format === undefined
      ? this.broken(offset, 'is not a record, or has been changed')
      : newerFormat(format);
  }

  private broken(offset: number, why: string): JournalError {
    const message =
      `The journal ${this.path} is damaged: line ${this.line}, at byte ${offset}, ${why}. Nothing was sent. ` +
      'Put back a good copy of the file, or run the same command with --repair: it keeps the damaged file beside it, ' +
      'continues with every record that can be read, and holds the rows whose purchase may be lost.';
    return new JournalError('journal-broken', message, { offset, line: this.line });
  }
}

/** The format of a first line with a wrong checksum, which may be a line of a later format. */
function formatOf(line: Buffer): number | undefined {
  const { format } = (valueOfJson(line.toString()) ?? {}) as { format?: unknown };
  return typeof format === 'number' && format > journalFormat ? format : undefined;
}
