import { createHash } from 'node:crypto';
import { DiskFault, onDisk } from '../disk/disk-fault.js';
import type { Disk } from '../disk/disk.js';

/** Longer ids are cut: with its extension and a temporary one, a name stays well under 255 bytes. */
const longestPlain = 100;
const plain = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
/** Names that Windows reserves for devices, with any extension. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** The parts of a saved file's name. */
interface ArtifactName {
  readonly id: string;
  readonly format: string;
  /** Whether other rows' ids differ from this one only in case. @defaultValue false */
  readonly collides?: boolean;
  /** Its number among the files of its row, counted from 1. @defaultValue 1 */
  readonly nth?: number;
  /** Distinguishes files with the same name, if the row was bought again or another file is there already. */
  readonly apart?: string;
}

/**
 * `<id>.<format>`, and `<id>~2.<format>` for the second file of a row. An id that is not valid as a file name is
 * cleaned and gets a hash of the whole id after `~`, which no plain id contains: two rows never share a name, on no
 * file system.
 */
export function artifactName({ id, format, collides = false, nth = 1, apart }: ArtifactName): string {
  const hashes = [
    ...(collides || !isPlain(id) ? [shortHash(id)] : []),
    ...(nth === 1 ? [] : [String(nth)]),
    ...(apart === undefined ? [] : [shortHash(`${id}\n${apart}`)]),
  ];
  return `${[isPlain(id) ? id : clean(id), ...hashes].join('~')}.${format}`;
}

/** A form that is equal for ids whose file names a file system may treat as the same. */
export function foldCase(id: string): string {
  return id.toLowerCase();
}

function isPlain(id: string): boolean {
  return (
    id.length <= longestPlain && plain.test(id) && !device.test(id) && !id.endsWith('.') && !id.includes('..')
  );
}

function clean(id: string): string {
  const cleaned = id
    .slice(0, longestPlain)
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return cleaned === '' || device.test(cleaned) ? `row${cleaned === '' ? '' : '-'}${cleaned}` : cleaned;
}

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}

/** The folder of pictures, within the output folder. */
export const imagesFolder = 'images';

/** The folder of files that the user asked for (`saveOutput`), within the output folder. */
export const filesFolder = 'files';

/** Creates the folder of pictures; returns true if there was none. Refuses a link in its place, because it may lead anywhere. */
export async function openImagesFolder(disk: Disk, folder: string): Promise<boolean> {
  return openFilesFolder(disk, folder, imagesFolder);
}

/** Like `openImagesFolder`, for either folder of saved files. */
export async function openFilesFolder(disk: Disk, folder: string, name: string): Promise<boolean> {
  const path = `${folder}/${name}`;
  return onDisk(path, async () => {
    const found = await disk.stat(path);
    if (found === undefined) {
      await disk.mkdir(path);
      await disk.syncFolder(folder);
      return true;
    }
    if (found.kind !== 'folder') {
      const what = found.kind === 'link' ? 'a symbolic link' : 'no folder';
      throw new DiskFault(
        path,
        'ENOTDIR',
        new Error(
          `it is ${what}, and ${name === imagesFolder ? 'pictures' : 'files'} are saved in a folder of that name`,
        ),
      );
    }
    return false;
  });
}
