import { createHash } from 'node:crypto';
import { writeAll } from '../disk/append-file.js';
import { fileChunks, withFile } from '../disk/read-file.js';
import { onDisk } from '../disk/disk-fault.js';
import type { Disk, DiskFile } from '../disk/disk.js';
import { imagesFolder, headBytes, pictureFormat, type PictureFormat, pictureName } from './picture-name.js';
import { MillraceError } from '../../../src/contract/millrace-error.js';

/** A longer picture is refused. */
export const maxPictureBytes = 256 * 2 ** 20;

export interface PicturePlace {
  readonly disk: Disk;
  /** The output folder. */
  readonly folder: string;
  readonly id: string;
  /** Other rows' ids differ from this one in case alone. */
  readonly collides: boolean;
}

/** A picture as it lies on the disk. */
export interface PictureFile {
  /** Relative to the output folder. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly format: PictureFormat;
}

type Write = (chunk: Uint8Array) => Promise<void>;

/**
 * Saves a picture under the row's name: beside it first, synced, then renamed, so that a name always stands for a whole
 * picture. What lies under the name already is kept unless it is the same: the picture then gets another name. What the
 * bytes are decides the ending.
 *
 * @param fill Writes the bytes, chunk by chunk, each awaited; its error is passed on, and nothing is left behind.
 * @throws {PictureError} where the bytes are no picture or too many; {@link DiskFault}.
 */
export async function savePicture(
  fill: (write: Write) => Promise<unknown>,
  place: PicturePlace,
): Promise<PictureFile> {
  const { disk, folder, id } = place;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, 20);
  const temporary = `${folder}/${imagesFolder}/.${digest}.part`;
  try {
    const written = await writePart(disk, temporary, fill);
    const path = await findName(place, written);
    await onDisk(path, async () => {
      await disk.rename(temporary, `${folder}/${path}`);
      await disk.syncFolder(`${folder}/${imagesFolder}`);
    });
    return { path, ...written };
  } catch (error) {
    await disk.unlink(temporary).catch(() => undefined);
    throw error;
  }
}

type Written = Omit<PictureFile, 'path'>;

async function writePart(
  disk: Disk,
  path: string,
  fill: (write: Write) => Promise<unknown>,
): Promise<Written> {
  const file = await onDisk(path, async () => {
    if ((await disk.stat(path)) !== undefined) await disk.unlink(path);
    return disk.open(path, 'wx');
  });
  try {
    const part = new Part(file, path);
    await fill((chunk) => part.write(chunk));
    const written = part.written();
    await onDisk(path, () => file.sync());
    return written;
  } finally {
    await file.close().catch(() => undefined);
  }
}

class Part {
  private readonly hash = createHash('sha256');
  private head: Buffer = Buffer.alloc(0);
  private length = 0;

  constructor(
    private readonly file: DiskFile,
    private readonly path: string,
  ) {}

  async write(chunk: Uint8Array): Promise<void> {
    if (this.length + chunk.length > maxPictureBytes)
      throw new PictureError(`the picture is larger than ${maxPictureBytes / 2 ** 20} MB`);
    if (this.head.length < headBytes) {
      this.head = Buffer.concat([this.head, chunk.subarray(0, headBytes)]);
      if (this.head.length >= headBytes) formatOf(this.head);
    }
    this.hash.update(chunk);
    await onDisk(this.path, () => writeAll(this.file, chunk, this.length));
    this.length += chunk.length;
  }

  written(): Written {
    return { bytes: this.length, sha256: this.hash.digest('hex'), format: formatOf(this.head) };
  }
}

function formatOf(head: Buffer): PictureFormat {
  const format = pictureFormat(head);
  if (format !== undefined) return format;
  const shown = JSON.stringify(head.toString('latin1', 0, headBytes).replace(/[^ -~]/g, '.'));
  const what =
    head.length === 0 ? 'there are no bytes' : `the bytes are no picture, they begin with ${shown}`;
  throw new PictureError(what, { isNoPicture: true });
}

/** The row's own name, unless something else lies there. */
async function findName({ disk, folder, id, collides }: PicturePlace, written: Written): Promise<string> {
  const { format, sha256, bytes } = written;
  const path = `${imagesFolder}/${pictureName({ id, format, collides })}`;
  return onDisk(path, async () => {
    const found = await disk.stat(`${folder}/${path}`);
    if (found === undefined) return path;
    const isSame =
      found.kind === 'file' && found.size === bytes && (await hashFile(disk, `${folder}/${path}`)) === sha256;
    return isSame ? path : `${imagesFolder}/${pictureName({ id, format, collides, apart: sha256 })}`;
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

/** A picture that is paid for could not be saved, and the disk is not to blame: the row fails as `download`. */
export class PictureError extends MillraceError {
  static override readonly name: string = 'PictureError';
  /** Of the reply that brought no picture. */
  readonly httpStatus: number | undefined;
  /** The bytes are no picture at all. */
  readonly isNoPicture: boolean;
  /** Trying again may help. */
  readonly mayPass: boolean;

  constructor(
    message: string,
    facts: { httpStatus?: number; isNoPicture?: boolean; mayPass?: boolean } = {},
  ) {
    super('picture', message);
    this.httpStatus = facts.httpStatus;
    this.isNoPicture = facts.isNoPicture ?? false;
    this.mayPass = facts.mayPass ?? false;
  }
}
