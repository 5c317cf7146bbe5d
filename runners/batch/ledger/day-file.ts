import { randomUUID } from 'node:crypto';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { folderOf, type Disk } from '../disk/disk.js';
import { openAppendFile, type AppendFile } from '../disk/append-file.js';
import { readLines, valueOfJson } from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';
import { DayBook, dayEntrySchema, type DayEntry } from './day-book.js';

/** A file smaller than this (in bytes) is not compacted. */
const leastBytes = 1 << 18;
const bytesPerEntry = 100;

/** The file behind a day ledger. Every method must run under the ledger's lock. */
export class DayFile {
  book = new DayBook();
  private readonly schema = dayEntrySchema();
  /** How many bytes of the file have been read, and the name in its first line. */
  private readTo = 0;
  private name = '';
  /**
   * False until this process has synced the folder: the process that created or renamed the file may have died before
   * doing so.
   */
  private isNameDurable = false;

  constructor(
    private readonly disk: Disk,
    private readonly path: string,
  ) {}

  /** Reads what other processes have written since the last call. */
  async catchUp(now: number): Promise<void> {
    const file = (await this.disk.stat(this.path)) && (await this.disk.open(this.path, 'r'));
    try {
      if (file !== undefined && (await file.size()) < this.readTo && !(await this.isAnother(file)))
        throw this.older();
      if (file !== undefined && (await this.isAnother(file))) this.begin();
      if (file !== undefined) await this.read(file);
      else this.begin();
    } finally {
      await file?.close();
    }
    this.book.expire(now);
  }

  /**
   * Writes entries that are already in the book. They are durable when it resolves; after an error the whole file is
   * read again.
   */
  async append(entries: readonly DayEntry[]): Promise<void> {
    if (entries.length === 0) return;
    try {
      await this.write(entries);
    } catch (error) {
      this.begin();
      throw error;
    }
    // The entries are durable: a compaction that fails is tried again after the next ones.
    await this.compactIfLong().catch(() => this.begin());
  }

  private async write(entries: readonly DayEntry[]): Promise<void> {
    const isNew = this.readTo === 0;
    if (isNew) await this.disk.mkdir(folderOf(this.path));
    const file = await openAppendFile(this.disk, this.path, this.readTo);
    try {
      await this.cutTorn(file);
      const text = (isNew ? [this.header(), ...entries] : entries).map(asLine).join('');
      await file.append(Buffer.from(text));
      await file.sync().catch(async (error: unknown) => {
        await file.cutTo(this.readTo);
        throw error;
      });
      if (!this.isNameDurable) await this.disk.syncFolder(folderOf(this.path));
      this.isNameDurable = true;
      this.readTo = file.end;
    } finally {
      await file.close();
    }
  }

  /** Rewrites the file when most of it is history. */
  private async compactIfLong(): Promise<void> {
    if (this.readTo < leastBytes) return;
    const entries = this.book.compact();
    if (entries.length * bytesPerEntry * 4 > this.readTo) return;
    const text = [this.header(), ...entries].map(asLine).join('');
    await replaceFile(this.disk, this.path, text);
    this.readTo = Buffer.byteLength(text);
  }

  private begin(): void {
    this.book = new DayBook();
    this.readTo = 0;
    this.isNameDurable = false;
  }

  private async isAnother(file: Parameters<typeof readLines>[0]): Promise<boolean> {
    if (this.readTo === 0) return false;
    for await (const { bytes, ended } of readLines(file, { chunkBytes: 256 })) {
      const entry = ended ? this.entryOf(bytes) : undefined;
      return entry?.k !== 'ledger' || entry.name !== this.name;
    }
    return true;
  }

  private async read(file: Parameters<typeof readLines>[0]): Promise<void> {
    for await (const { bytes, offset, ended } of readLines(file, {
      from: this.readTo,
      chunkBytes: 1 << 16,
    })) {
      // The writer died in the middle of this line, so it never relied on it.
      if (!ended) return;
      const entry = this.entryOf(bytes);
      if (entry === undefined) throw this.damaged(offset);
      if (entry.k === 'ledger') this.name = entry.name;
      this.book.apply(entry);
      this.readTo = offset + bytes.length + 1;
    }
  }

  private entryOf(bytes: Buffer): DayEntry | undefined {
    return this.schema.safeParse(valueOfJson(bytes.toString())).data;
  }

  private async cutTorn(file: AppendFile): Promise<void> {
    const size = (await this.disk.stat(this.path))?.size ?? 0;
    if (size > this.readTo) await file.cutTo(this.readTo);
  }

  /** The first line of a new file. */
  private header(): DayEntry {
    this.name = randomUUID();
    return { k: 'ledger', format: 1, name: this.name };
  }

  private older(): DayLedgerError {
    const message =
      `The shared ledger ${this.path} has lost entries: it was cut, or an older copy was put in its place while this run went on, so what was ` +
      'spent in the last 24 hours is not known. Put back the newer copy, or move the file away: then the 24 hours begin anew.';
    return new DayLedgerError(message);
  }

  private damaged(offset: number): DayLedgerError {
    const message =
      `The shared ledger ${this.path} is damaged at byte ${offset}, so what was spent in the last 24 hours is not known. Nothing was sent. ` +
      'Put back a good copy, or move the file away: then the 24 hours begin anew.';
    return new DayLedgerError(message);
  }
}

function asLine(entry: DayEntry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** The shared ledger cannot be read or written: exit code 74. Nothing may be bought under a cap that cannot be checked. */
export class DayLedgerError extends MillraceError {
  static override readonly name: string = 'DayLedgerError';

  constructor(
    message: string,
    /** The system's error code, where there is one. */
    readonly errno?: string,
    options?: { cause?: unknown },
  ) {
    super('day-ledger', message, options);
  }
}
