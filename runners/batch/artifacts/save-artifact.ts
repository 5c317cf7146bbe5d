import { createHash } from 'node:crypto';
import { onDisk } from '../disk/disk-fault.js';
import type { Disk } from '../disk/disk.js';
import { fileChunks, withFile } from '../disk/read-file.js';
import { artifactName, filesFolder, imagesFolder } from './artifact-name.js';
import { FileVersion, KeptPart } from './kept-part.js';
import { ArtifactPart, type PartPlace, type WrittenPart } from './artifact-part.js';

export interface ArtifactPlace extends PartPlace {
  readonly folder: string;
  readonly id: string;
  /** Whether other rows' ids differ from this one only in case. */
  readonly collides: boolean;
}

/** An artifact that has been saved. */
export interface ArtifactFile extends WrittenPart {
  /** Relative to the output folder. */
  readonly path: string;
}

/**
 * Saves an artifact under the row's name. It is written to a temporary file, synced and renamed, so that a name always means a
 * complete file. A different file that is there already is kept; the artifact then gets another name. The extension follows
 * from the bytes.
 *
 * @param fill Writes the bytes, chunk by chunk, each awaited. Its error is passed on; nothing remains except a part
 *   that it leaves for a later start.
 * @throws {ArtifactError} if the bytes have no known format or are too many; {@link DiskFault}.
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

/** The row's own name, unless a different file is there. */
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
