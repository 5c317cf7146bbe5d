import type { DiskFile } from '../disk/disk.js';
import { readAll } from '../disk/read-all.js';
import { decodeRecord } from './line/decode-record.js';
import type { JournalRecord } from './record.js';

const newline = 0x0a;

/**
 * A stretch of the file in memory, for records that are read by their place, one mostly behind the other: the next one is
 * mostly there already.
 */
export class RecordWindow {
  private buffer = Buffer.alloc(0);
  /** Where the window begins in the file, and how much of it is filled. */
  private start = 0;
  private filled = 0;

  /**
   * @param to Where the last good record ends.
   * @param bytes Read at a time; a longer record takes more.
   */
  constructor(
    private readonly file: Pick<DiskFile, 'read'>,
    private readonly to: number,
    private readonly bytes: number,
  ) {}

  /** The record that begins at this byte. */
  async recordAt(offset: number): Promise<JournalRecord> {
    for (let bytes = this.bytes; ; bytes *= 2) {
      const from = offset - this.start;
      const isInside = from >= 0 && from < this.filled;
      const end = isInside ? this.buffer.subarray(0, this.filled).indexOf(newline, from) : -1;
      const isLast = this.start + this.filled >= this.to;
      if (isInside && (end >= 0 || isLast))
        return decodeRecord(this.buffer.subarray(from, end < 0 ? this.filled : end)).record;
      await this.fill(offset, bytes);
    }
  }

  private async fill(offset: number, bytes: number): Promise<void> {
    const size = Math.min(bytes, this.to - offset);
    if (this.buffer.length < size) this.buffer = Buffer.allocUnsafeSlow(size);
    this.start = offset;
    this.filled = 0;
    await readAll(this.file, this.buffer.subarray(0, size), offset);
    this.filled = size;
  }
}
