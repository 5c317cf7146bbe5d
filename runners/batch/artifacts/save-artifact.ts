import { createHash } from 'node:crypto';
import { writeAll } from '../disk/append-file.js';
import { fileChunks, withFile } from '../disk/read-file.js';
import { onDisk } from '../disk/disk-fault.js';
import type { Disk, DiskFile } from '../disk/disk.js';
import { ArtifactError } from './artifact-error.js';
import { artifactFormat, headBytes, pictureFormat, textFormat } from './artifact-format.js';
import { artifactName, filesFolder, imagesFolder } from './artifact-name.js';
import { PictureEnd } from './picture-end.js';

/** A longer picture is refused. */
export const maxPictureBytes = 256 * 2 ** 20;
/** The same for another file. */
export const maxFileBytes = 8 * 2 ** 30;

export interface ArtifactPlace {
  readonly disk: Disk;
  /** The output folder. */
  readonly folder: string;
  readonly id: string;
  /** Other rows' ids differ from this one in case alone. */
  readonly collides: boolean;
  /** A file that the user asked for, of any known format: which of its row it is, and its address. Absent: the row's picture. */
  readonly file?: { readonly nth: number; readonly url?: string | undefined };
}

/** An artifact as it lies on the disk. */
export interface ArtifactFile {
  /** Relative to the output folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly format: string;
}

/**
 * Saves an artifact under the row's name: beside it first, synced, then renamed, so that a name always stands for a whole
 * file. What lies under the name already is kept unless it is the same: the artifact then gets another name. What the
 * bytes are decides the ending.
 *
 * @param fill Writes the bytes, chunk by chunk, each awaited; its error is passed on, and nothing is left behind.
 * @throws {ArtifactError} where the bytes are of no known format or too many; {@link DiskFault}.
 */
export async function saveArtifact(
  fill: (part: ArtifactPart) => Promise<unknown>,
  place: ArtifactPlace,
): Promise<ArtifactFile> {
  const { disk, folder, id, file } = place;
  const name = file === undefined ? id : `${id}\n${file.nth}`;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 20);
  const temporary = `${folder}/${folderOf(place)}/.${digest}.part`;
  try {
    const written = await writePart(place, temporary, fill);
    const path = await findName(place, written);
    await onDisk(path, async () => {
      await disk.rename(temporary, `${folder}/${path}`);
      await disk.syncFolder(`${folder}/${folderOf(place)}`);
    });
    return { path, ...written };
  } catch (error) {
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

function folderOf({ file }: Pick<ArtifactPlace, 'file'>): string {
  return file === undefined ? imagesFolder : filesFolder;
}

type Written = Omit<ArtifactFile, 'path'>;

async function writePart(
  place: ArtifactPlace,
  path: string,
  fill: (part: ArtifactPart) => Promise<unknown>,
): Promise<Written> {
  const { disk } = place;
  const file = await onDisk(path, async () => {
    if ((await disk.stat(path)) !== undefined) await disk.unlink(path);
    return disk.open(path, 'wx');
  });
  try {
    const part = new ArtifactPart(file, path, place);
    await fill(part);
    const written = part.written();
    await onDisk(path, () => file.sync());
    return written;
  } finally {
    await file.close().catch(() => undefined);
  }
}

/** The bytes of an artifact as far as they have come. */
export class ArtifactPart {
  private hash = createHash('sha256');
  private head: Buffer = Buffer.alloc(0);
  private end = new PictureEnd();
  /** How many bytes are written. */
  length = 0;

  constructor(
    private readonly file: DiskFile,
    private readonly path: string,
    private readonly place: Pick<ArtifactPlace, 'file'>,
  ) {}

  /** The most bytes that it may have. */
  get mostBytes(): number {
    return this.place.file === undefined ? maxPictureBytes : maxFileBytes;
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
    await onDisk(this.path, () => writeAll(this.file, chunk, this.length));
    this.length += chunk.length;
  }

  /** Drops what is written. */
  async restart(): Promise<void> {
    if (this.length === 0) return;
    await onDisk(this.path, () => this.file.truncate(0));
    this.hash = createHash('sha256');
    this.head = Buffer.alloc(0);
    this.end = new PictureEnd();
    this.length = 0;
  }

  /** Whether it breaks off before its end, as far as its format shows that. */
  get isCut(): boolean {
    return this.end.isMissing;
  }

  /** It may have gigabytes. */
  get mayBeLarge(): boolean {
    return this.place.file !== undefined;
  }

  /** What it is called in a message. */
  get name(): string {
    return this.place.file === undefined ? 'picture' : 'file';
  }

  written(): Written {
    return { bytes: this.length, sha256: this.hash.digest('hex'), format: this.format() };
  }

  /** @throws {ArtifactError} where the bytes are of none that is taken */
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
}

const shownBytes = 16;

/** The row's own name, unless something else lies there. */
async function findName(place: ArtifactPlace, written: Written): Promise<string> {
  const { disk, folder, id, collides, file } = place;
  const { format, sha256, bytes } = written;
  const named = { id, format, collides, nth: file?.nth ?? 1 };
  const path = `${folderOf(place)}/${artifactName(named)}`;
  return onDisk(path, async () => {
    const found = await disk.stat(`${folder}/${path}`);
    if (found === undefined) return path;
    const isSame =
      found.kind === 'file' && found.size === bytes && (await hashFile(disk, `${folder}/${path}`)) === sha256;
    return isSame ? path : `${folderOf(place)}/${artifactName({ ...named, apart: sha256 })}`;
  });
}

/** SHA-256 of a file, in hex. */
async function hashFile(disk: Disk, path: string): Promise<string> {
  const hash = createHash('sha256');
  await withFile(disk, path, async (file) => {
    for await (const bytes of fileChunks(file)) hash.update(bytes);
  });
  return hash.digest('hex');
}
