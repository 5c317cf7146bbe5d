import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { onDisk } from '../disk/disk-fault.js';
import { writeAll, type Disk, type DiskFile } from '../disk/disk.js';
import { fileChunks, withFile } from '../disk/read-file.js';
import { ArtifactError } from './artifact-error.js';
import { artifactFormat, headBytes, pictureFormat, textFormat } from './artifact-format.js';
import type { FileVersion, KeptPart } from './kept-part.js';
import { PictureEnd } from './picture-end.js';

/** A larger picture is refused. */
export const maxPictureBytes = 256 * 2 ** 20;
/** A larger file is refused. */
export const maxFileBytes = 8 * 2 ** 30;

/** A download of at least this size is continued by a later start … */
const keptBytes = 2 ** 20;
/** … and after a crash too, which loses at most this many bytes of it. */
const noteEveryBytes = 32 * 2 ** 20;

export interface PartPlace {
  readonly disk: Disk;
  /**
   * Set for a file that the user asked for, which may have any known format: its number in the row, and its URL. Absent
   * for the row's picture.
   */
  readonly file?: { readonly nth: number; readonly url?: string | undefined };
}

/** The facts about an artifact before it has its name. */
export interface WrittenPart {
  readonly bytes: number;
  readonly sha256: string;
  readonly format: string;
  /** Set for a picture that came in its reply without its end: it cannot be fetched again. */
  readonly isCut?: true;
}

/** The bytes of an artifact that have arrived so far, in a file of this process beside its final name. */
export class ArtifactPart {
  /** How many bytes are written. */
  length = 0;
  private hash = createHash('sha256');
  private head: Buffer = Buffer.alloc(0);
  private end = new PictureEnd();
  private file: DiskFile | undefined;
  private readonly disk: Disk;
  /** How many bytes a later start would find. */
  private noted = 0;
  private isLeft = false;

  /**
   * @param name of the part, without `.<process>.part`
   * @param version of the bytes that are written
   * @param kept absent if nothing is left for a later start
   */
  constructor(
    private readonly place: PartPlace,
    name: string,
    readonly version: FileVersion,
    private readonly kept: KeptPart | undefined,
    readonly path = `${name}.${ofProcess()}.part`,
  ) {
    this.disk = place.disk;
  }

  /** Creates the file, and copies bytes of this URL that an earlier process left. */
  async open(): Promise<void> {
    const { disk, path, kept } = this;
    await onDisk(path, async () => {
      const earlier = await kept?.take();
      if ((await disk.stat(path)) !== undefined) await disk.unlink(path);
      this.file = await disk.open(path, 'wx');
      if (earlier === undefined) return;
      await withFile(disk, earlier.path, async (file) => {
        for await (const chunk of fileChunks(file, earlier.bytes)) await this.write(chunk);
      });
      await disk.unlink(earlier.path);
      this.version.validator = earlier.validator;
      this.version.total = earlier.total;
      await this.note();
    });
  }

  /** The maximum size. */
  get mostBytes(): number {
    return this.mayBeLarge ? maxFileBytes : maxPictureBytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.length + chunk.length > this.mostBytes)
      throw new ArtifactError(`the ${this.name} is larger than ${this.mostBytes / 2 ** 20} MB`);
    if (this.head.length < headBytes) {
      this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes)]).subarray(0, headBytes);
      if (this.head.length === headBytes) this.format();
    }
    this.hash.update(chunk);
    this.end.add(chunk);
    await this.onFile((file) => writeAll(file, chunk, this.length));
    this.length += chunk.length;
    if (this.length - this.noted >= noteEveryBytes) await this.note();
  }

  /** Drops the bytes written so far. */
  async restart(): Promise<void> {
    if (this.length === 0) return;
    await onDisk(this.path, async () => this.kept?.drop());
    await this.onFile((file) => file.truncate(0));
    this.hash = createHash('sha256');
    this.head = Buffer.alloc(0);
    this.end = new PictureEnd();
    this.length = 0;
    this.noted = 0;
  }

  /** Leaves the bytes for a later start, if there are enough of them and their version can be identified. */
  async leave(): Promise<void> {
    if (this.length < keptBytes) return;
    await this.note();
    this.isLeft = this.noted === this.length;
  }

  private async note(): Promise<void> {
    const { kept, path, length: bytes } = this;
    const { validator, total } = this.version;
    if (kept === undefined || validator === undefined) return;
    await this.onFile((file) => file.sync());
    await onDisk(path, () => kept.keep(path, { validator, total, bytes }));
    this.noted = bytes;
  }

  /** Makes the file durable, and returns its facts. */
  async finish(): Promise<WrittenPart> {
    const facts = { bytes: this.length, sha256: this.hash.digest('hex'), format: this.format() };
    await this.onFile((file) => file.sync());
    await this.close();
    return { ...facts, ...(this.isCut && { isCut: true }) };
  }

  /** Removes the note; call it when the file has its final name. */
  async forget(): Promise<void> {
    await this.kept?.drop().catch(() => undefined);
  }

  /** Removes the file, unless it is left for a later start. */
  async abandon(): Promise<void> {
    await this.close();
    if (this.isLeft) return;
    await this.forget();
    await this.disk.unlink(this.path).catch(() => undefined);
  }

  /** Whether the file ends too early, as far as its format shows that. */
  get isCut(): boolean {
    return this.end.isMissing;
  }

  /** Whether it may have gigabytes. */
  get mayBeLarge(): boolean {
    return this.place.file !== undefined;
  }

  /** The word for it in messages. */
  get name(): string {
    return this.mayBeLarge ? 'file' : 'picture';
  }

  /** @throws {ArtifactError} if the bytes have no accepted format */
  format(): string {
    const { file } = this.place;
    const format =
      file === undefined
        ? pictureFormat(this.head)
        : (artifactFormat(this.head) ?? textFormat(this.head, file.url ?? ''));
    if (format !== undefined) return format;
    const shown = JSON.stringify(this.head.toString('latin1', 0, shownBytes).replace(/[^ -~]/g, '.'));
    const what = file === undefined ? 'no picture' : 'no file of a known format';
    throw new ArtifactError(
      this.head.length === 0 ? 'there are no bytes' : `the bytes are ${what}, they begin with ${shown}`,
      { isNoPicture: true },
    );
  }

  private async close(): Promise<void> {
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
  }

  private onFile<T>(work: (file: DiskFile) => Promise<T>): Promise<T> {
    return onDisk(this.path, async () => {
      if (this.file === undefined) throw new Error('the part is not open');
      return work(this.file);
    });
  }
}

const shownBytes = 16;

/** Several processes may save the same file, if one of them only seems dead: each has its own part. */
function ofProcess(): string {
  return createHash('sha256').update(`${hostname()}\n${process.pid}`).digest('hex').slice(0, 8);
}
