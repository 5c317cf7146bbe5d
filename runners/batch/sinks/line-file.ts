import { crc32 } from 'node:zlib';
import { folderOf, openAppendFile, type AppendFile } from '../disk/append-file.js';
import type { Disk, DiskFile } from '../disk/disk.js';
import { DiskFault, onDisk } from '../disk/disk-fault.js';
import { readAll } from '../disk/read-all.js';
import { readLineBlocks, readLines } from '../disk/read-lines.js';
import { replaceFile } from '../disk/replace-file.js';

/** How far a file has been written: what a later start goes on from. */
export interface FileMark {
  readonly bytes: number;
  readonly crc: number;
}

const nothing: FileMark = { bytes: 0, crc: 0 };

/**
 * A file of lines that follows from the journal. After it is opened, what is appended is held against what lies there
 * already: equal bytes are not written again; from the first difference on the file is cut and written anew. `settle`
 * ends that and cuts off what is left over.
 */
export class LineFile {
  private bytes: number;
  private crc: number;
  /** What lies behind `bytes` has not been looked at. */
  private isCompared = true;

  private constructor(
    private readonly disk: Disk,
    readonly path: string,
    private file: AppendFile,
    mark: FileMark,
    /** The folder that the file was opened in, where the file system has numbers. */
    private readonly folder: string | undefined,
  ) {
    this.bytes = mark.bytes;
    this.crc = mark.crc;
  }

  /** Opens the file, which is made when it is missing, behind a mark that `holds`. */
  static async open(disk: Disk, path: string, mark: FileMark = nothing): Promise<LineFile> {
    return onDisk(path, async () => {
      const found = await disk.stat(path);
      if (found !== undefined && found.kind !== 'file')
        throw new DiskFault(
          path,
          'EEXIST',
          new Error(`it is no file, and millrace writes there: move it away`),
        );
      // Left by a start that died while it replaced the file.
      await disk.unlink(`${path}.tmp`).catch(() => undefined);
      const file = await openAppendFile(disk, path);
      return new LineFile(disk, path, file, mark, (await disk.stat(folderOf(path)))?.id);
    });
  }

  get mark(): FileMark {
    return { bytes: this.bytes, crc: this.crc };
  }

  async append(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    await onDisk(this.path, async () => {
      if (this.isCompared && !(await this.holds(bytes))) await this.cut();
      if (!this.isCompared) await this.file.append(bytes);
    });
    this.bytes += bytes.length;
    this.crc = crc32(bytes, this.crc);
  }

  /** Cuts off what nothing was appended for. */
  async settle(): Promise<void> {
    if (this.isCompared) await onDisk(this.path, () => this.cut());
  }

  /** Makes durable what was written. May run beside `append`. */
  async sync(): Promise<void> {
    await onDisk(this.path, () => this.file.sync());
  }

  /**
   * Takes the file's name back where another program has put a copy there. Not beside `append`: what was appended meanwhile
   * would be missing in the new file, and a file that grows is not as long as it is known to be.
   */
  async keepName(): Promise<void> {
    await onDisk(this.path, async () => {
      if (!(await this.file.isIntact())) throw this.changed('it was changed');
      if (!(await this.file.isNamed())) await this.takeBack();
    });
  }

  /** Leaves out the lines that `keep` refuses, by a new file in place of the old one. */
  filter(
    keep: (line: Buffer) => boolean | Promise<boolean>,
    lines: AsyncIterable<Buffer> = this.lines(),
  ): Promise<void> {
    const kept = async function* (): AsyncGenerator<Buffer> {
      for await (const line of lines) if (await keep(line)) yield Buffer.concat([line, newline]);
    };
    return this.replace(kept());
  }

  /** Puts a new file in the place of the old one. */
  async replace(lines: AsyncIterable<Buffer>): Promise<void> {
    await onDisk(this.path, async () => {
      let mark = nothing;
      const written = async function* (): AsyncGenerator<Buffer> {
        for await (const bytes of inPieces(lines)) {
          mark = { bytes: mark.bytes + bytes.length, crc: crc32(bytes, mark.crc) };
          yield bytes;
        }
      };
      await replaceFile(this.disk, this.path, written());
      await this.file.close();
      this.file = await openAppendFile(this.disk, this.path);
      ({ bytes: this.bytes, crc: this.crc } = mark);
      this.isCompared = false;
    });
  }

  /** The lines written so far, from a byte on. */
  lines(from = 0): AsyncIterable<Buffer> {
    return linesOf(this.disk, this.path, { from, to: this.bytes });
  }

  close(): Promise<void> {
    return this.file.close();
  }

  /** Puts what this process wrote in the place of what lies there now. In another folder than the run's nothing is written. */
  private async takeBack(): Promise<void> {
    if ((await this.disk.stat(folderOf(this.path)))?.id !== this.folder)
      throw this.changed('its folder was moved, removed or replaced');
    const { file } = this;
    const written = async function* (): AsyncGenerator<Buffer> {
      for (let at = 0; at < file.end;) {
        const piece = Buffer.alloc(Math.min(pieceBytes, file.end - at));
        await readAll(file, piece, at);
        yield piece;
        at += piece.length;
      }
    };
    await replaceFile(this.disk, this.path, written());
    this.file = await openAppendFile(this.disk, this.path);
    await file.close();
  }

  private changed(what: string): DiskFault {
    const message = `${what} by another program while the run went on: it is written anew from the journal at the next start`;
    return new DiskFault(this.path, undefined, new Error(message));
  }

  private async holds(bytes: Buffer): Promise<boolean> {
    if (this.file.end < this.bytes + bytes.length) return false;
    const found = Buffer.alloc(bytes.length);
    const file = await this.disk.open(this.path, 'r');
    try {
      return (await readFully(file, found, this.bytes)) && found.equals(bytes);
    } finally {
      await file.close();
    }
  }

  private async cut(): Promise<void> {
    if (this.file.end !== this.bytes) await this.file.cutTo(this.bytes);
    this.isCompared = false;
  }
}

const newline = Buffer.from('\n');
const pieceBytes = 1 << 18;

/** A write for each line would take minutes. */
async function* inPieces(lines: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let size = 0;
  for await (const line of lines) {
    waiting.push(line);
    size += line.length;
    if (size < pieceBytes) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    size = 0;
  }
  yield Buffer.concat(waiting);
}

/**
 * Whether a file goes as far as its mark.
 *
 * @param content Also reads it, and compares the checksum.
 */
export async function holdsMark(
  disk: Disk,
  path: string,
  mark: FileMark,
  content: boolean,
): Promise<boolean> {
  return onDisk(path, async () => {
    const found = await disk.stat(path);
    if (found?.kind !== 'file' || found.size < mark.bytes) return mark.bytes === 0 && found === undefined;
    if (!content) return found.size === mark.bytes;
    const file = await disk.open(path, 'r');
    try {
      let crc = 0;
      for await (const block of readLineBlocks(file, { to: mark.bytes })) crc = crc32(block.bytes, crc);
      return crc === mark.crc;
    } finally {
      await file.close();
    }
  });
}

async function* linesOf(
  disk: Disk,
  path: string,
  range: { from?: number; to: number },
): AsyncGenerator<Buffer> {
  const file = await disk.open(path, 'r');
  try {
    for await (const { bytes } of readLines(file, range)) yield bytes;
  } finally {
    await file.close();
  }
}

async function readFully(file: DiskFile, into: Buffer, position: number): Promise<boolean> {
  for (let done = 0; done < into.length;) {
    const count = await file.read(into.subarray(done), position + done);
    if (count === 0) return false;
    done += count;
  }
  return true;
}
