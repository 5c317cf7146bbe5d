import { createHash } from 'node:crypto';
import { onDisk } from '../disk/disk-fault.js';
import type { Disk } from '../disk/disk.js';
import { fileChunks, withFile } from '../disk/read-file.js';
import { artifactName, filesFolder, imagesFolder } from './artifact-name.js';
import { FileVersion, KeptPart } from './kept-part.js';
import { ArtifactPart, type PartPlace, type WrittenPart } from './artifact-part.js';

export interface ArtifactPlace extends PartPlace {
  /** The output folder. */
  readonly folder: string;
  readonly id: string;
  /** Other rows' ids differ from this one in case alone. */
  readonly collides: boolean;
}

/** An artifact as it lies on the disk. */
export interface ArtifactFile extends WrittenPart {
  /** Relative to the output folder. */
  readonly path: string;
}

/**
 * Saves an artifact under the row's name: beside it first, synced, then renamed, so that a name always stands for a whole
 * file. What lies under the name already is kept unless it is the same: the artifact then gets another name. What the
 * bytes are decides the ending.
 *
 * @param fill Writes the bytes, chunk by chunk, each awaited; its error is passed on, and nothing is left behind that it has not left
 * for a later start.
 * @throws {ArtifactError} where the bytes are of no known format or too many; {@link DiskFault}.
 */
export async function saveArtifact(
  fill: (part: ArtifactPart) => Promise<unknown>,
  place: ArtifactPlace,
): Promise<ArtifactFile> {
  const { disk, folder, id, file } = place;
  const name = file === undefined ? id : `${id}\n${file.nth}`;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 20);
  const hidden = `${folder}/${folderOf(place)}/.${digest}`;
  const kept = file?.url === undefined ? undefined : new KeptPart(disk, hidden, file.url);
  const part = new ArtifactPart(place, hidden, new FileVersion(), kept);
  try {
    await part.open();
    await fill(part);
    const written = await part.finish();
    const path = await findName(place, written);
    await onDisk(path, async () => {
      await disk.rename(part.path, `${folder}/${path}`);
      await disk.syncFolder(`${folder}/${folderOf(place)}`);
    });
    await part.forget();
    return { path, ...written };
  } catch (error) {
    await part.abandon();
    throw error;
  }
}

function folderOf({ file }: Pick<ArtifactPlace, 'file'>): string {
  return file === undefined ? imagesFolder : filesFolder;
}

/** The row's own name, unless something else lies there. */
async function findName(place: ArtifactPlace, written: WrittenPart): Promise<string> {
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
