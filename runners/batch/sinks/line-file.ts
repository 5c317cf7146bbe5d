import { crc32 } from 'node:zlib';
import { folderOf, type Disk } from '../disk/disk.js';
import { openAppendFile, type AppendFile } from '../disk/append-file.js';
import { DiskFault, onDisk } from '../disk/disk-fault.js';
import {
  fileChunks,
  readUpTo,
  withFile,
  readLineBlocks,
  readLines,
  type ReadLinesOptions,
} from '../disk/read-file.js';
import { replaceFile } from '../disk/replace-file.js';

/** How far a file has been written: a later start continues from there. */
export interface FileExtent {
  readonly bytes: number;
  readonly crc: number;
}

const nothing: FileExtent = { bytes: 0, crc: 0 };

/**
 * A file of lines that follows from the journal. After it is opened, appended bytes are compared with those in the
 * file: equal bytes are not written again; at the first difference the file is cut, and the rest is written anew.
 * `settle` ends the comparison and cuts off the rest of the file.
 */
export class LineFile {
  /** True while bytes after `extent` may still have to be compared. */
  private isCompared = true;

  private constructor(
    private readonly disk: Disk,
    readonly path: string,
    private file: AppendFile,
    private written: FileExtent,
    /** The id of the folder that the file was opened in; `undefined` if the file system has no ids. */
    private readonly folder: string | undefined,
  ) {}

  /**
   * Opens the file to continue after `extent`, and creates it if it is missing. The caller has checked the extent
   * (`holdsExtent`).
   */
  static async open(disk: Disk, path: string, extent: FileExtent = nothing): Promise<LineFile> {
    return onDisk(path, async () => {
      const found = await disk.stat(path);
      if (found !== undefined && found.kind !== 'file') {
        const message = 'it is not a file, and millrace writes there: move it away';
        throw new DiskFault(path, 'EEXIST', new Error(message));
      }
      // A start that died while it replaced the file may have left this.
      await disk.unlink(`${path}.tmp`).catch(() => undefined);
      const folder = (await disk.stat(folderOf(path)))?.id;
      return new LineFile(disk, path, await openAppendFile(disk, path), extent, folder);
    });
  }

  get extent(): FileExtent {
    return this.written;
  }

  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await onDisk(this.path, async () => {
      if (this.isCompared && !(await this.holds(bytes))) await this.cut();
      if (this.isCompared) return;
      await this.insistIntact();
      await this.file.append(bytes);
    });
    this.written = extended(this.written, bytes);
  }

  /** Cuts off the bytes for which nothing was appended. */
  async settle(): Promise<void> {
    if (this.isCompared) await onDisk(this.path, () => this.cut());
  }

  /** Makes the written bytes durable. May run beside `append`. */
  async sync(): Promise<void> {
    await onDisk(this.path, () => this.file.sync());
  }

  /**
   * Restores this process's file if another program has put a copy under its name. Must not run during `append`: the new file
   * would lack the bytes appended meanwhile.
   */
  async keepName(): Promise<void> {
    await onDisk(this.path, async () => {
      await this.insistIntact();
      if (!(await this.file.isNamed())) await this.takeBack();
    });
  }

  /** Rewrites the file without the lines for which `keep` returns false. */
  filter(
    keep: (line: Buffer) => boolean | Promise<boolean>,
    lines: AsyncIterable<Buffer> = this.lines(),
  ): Promise<void> {
    const kept = async function* (): AsyncGenerator<Buffer> {
      for await (const line of lines) if (await keep(line)) yield Buffer.concat([line, newline]);
    };
    return this.replace(kept());
  }

  async replace(lines: AsyncIterable<Buffer>): Promise<void> {
    await onDisk(this.path, async () => {
      let extent = nothing;
      const counted = async function* (): AsyncGenerator<Buffer> {
        for await (const line of lines) {
          extent = extended(extent, line);
          yield line;
        }
      };
      await this.putInPlace(counted());
      this.written = extent;
      this.isCompared = false;
    });
  }

  /**
   * The lines written so far, from a byte offset on.
   *
   * @param more.chunkBytes Bytes per read, for a reader of few lines.
   */
  async *lines(from = 0, more: Pick<ReadLinesOptions, 'chunkBytes'> = {}): AsyncGenerator<Buffer> {
    const file = await this.disk.open(this.path, 'r');
    try {
      for await (const { bytes } of readLines(file, { ...more, from, to: this.written.bytes })) yield bytes;
    } finally {
      await file.close();
    }
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /**
   * If another program has cut the file, appending would leave a hole before the new line, and the length would look
   * right again.
   */
  private async insistIntact(): Promise<void> {
    if (!(await this.file.isIntact())) throw this.changed('it was changed');
  }

  /**
   * Replaces the file under this name with the bytes that this process wrote. Fails if the folder is no longer the one
   * that the file was opened in.
   */
  private async takeBack(): Promise<void> {
    if ((await this.disk.stat(folderOf(this.path)))?.id !== this.folder)
      throw this.changed('its folder was moved, removed or replaced');
    await this.putInPlace(fileChunks(this.file, this.file.end));
  }

  private async putInPlace(content: AsyncIterable<Uint8Array>): Promise<void> {
    await replaceFile(this.disk, this.path, content);
    const before = this.file;
    this.file = await openAppendFile(this.disk, this.path);
    await before.close();
  }

  private changed(what: string): DiskFault {
    const message = `${what} by another program while the run went on: it is written anew from the journal at the next start`;
    return new DiskFault(this.path, undefined, new Error(message));
  }

  private async holds(bytes: Buffer): Promise<boolean> {
    const { bytes: from } = this.written;
    if (this.file.end < from + bytes.length) return false;
    const found = Buffer.alloc(bytes.length);
    const count = await withFile(this.disk, this.path, (file) => readUpTo(file, found, from));
    return count === bytes.length && found.equals(bytes);
  }

  private async cut(): Promise<void> {
    if (this.file.end !== this.written.bytes) await this.file.cutTo(this.written.bytes);
    this.isCompared = false;
  }
}

/** Closes `file` if `work` fails, because the caller then never gets it. */
export async function closedOnError<T>(file: { close(): Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await file.close().catch(() => undefined);
    throw error;
  }
}

const newline = Buffer.from('\n');

function extended({ bytes, crc }: FileExtent, more: Uint8Array): FileExtent {
  return { bytes: bytes + more.length, crc: crc32(more, crc) };
}

/**
 * Whether a file is as long as its extent; with `content`, whether it is at least as long and its bytes match.
 *
 * @param content Read the file as well, and compare the checksum.
 */
export async function holdsExtent(
  disk: Disk,
  path: string,
  extent: FileExtent,
  content: boolean,
): Promise<boolean> {
  return onDisk(path, async () => {
    const found = await disk.stat(path);
    if (found?.kind !== 'file' || found.size < extent.bytes) return extent.bytes === 0 && found === undefined;
    if (!content) return found.size === extent.bytes;
    return withFile(disk, path, async (file) => {
      let crc = 0;
      for await (const block of readLineBlocks(file, { to: extent.bytes })) crc = crc32(block.bytes, crc);
      return crc === extent.crc;
    });
  });
}
