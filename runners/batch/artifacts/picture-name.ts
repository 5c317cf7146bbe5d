import { createHash } from 'node:crypto';
import { DiskFault, onDisk } from '../disk/disk-fault.js';
import type { Disk } from '../disk/disk.js';

/** Longer ids are cut: with its ending and a temporary one, a name stays well under 255 bytes. */
const longestPlain = 100;
const plain = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
/** Names that Windows keeps for devices, with any ending. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** How a picture is called. */
interface PictureName {
  readonly id: string;
  readonly format: PictureFormat;
  /** Other rows' ids differ from this one in case alone. @defaultValue false */
  readonly collides?: boolean;
  /** Sets another picture of the same row apart: bought again, or in the way of something that lies there. */
  readonly apart?: string;
}

/**
 * `<id>.<format>`. An id that is no good as a file's name is cleaned and gets a hash of the whole id behind `~`, which
 * no plain id contains: two rows never share a name, on no file system.
 */
export function pictureName({ id, format, collides = false, apart }: PictureName): string {
  const hashes = [
    ...(collides || !isPlain(id) ? [shortHash(id)] : []),
    ...(apart === undefined ? [] : [shortHash(`${id}\n${apart}`)]),
  ];
  return `${[isPlain(id) ? id : clean(id), ...hashes].join('~')}.${format}`;
}

/** The same for two ids that a file system may take for one. */
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

/** Enough bytes of a picture's head to tell its format. */
export const headBytes = 16;

/** A format by its name in files: `png`, `jpeg`, … */
export type PictureFormat = 'png' | 'jpeg' | 'webp' | 'gif' | 'avif' | 'heic' | 'tiff' | 'bmp';

const signatures: readonly (readonly [PictureFormat, (head: Buffer) => boolean])[] = [
  ['png', (head) => head.subarray(0, 8).equals(Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'))],
  ['jpeg', (head) => head[0] === 0xff && head[1] === 0xd8 && head[2] === 0xff],
  ['webp', (head) => textAt(head, 0, 4) === 'RIFF' && textAt(head, 8, 4) === 'WEBP'],
  ['gif', (head) => /^GIF8[79]a$/.test(textAt(head, 0, 6))],
  ['avif', (head) => textAt(head, 4, 4) === 'ftyp' && /^avi[fs]$/.test(textAt(head, 8, 4))],
  ['heic', (head) => textAt(head, 4, 4) === 'ftyp' && /^(hei[csx]|mif1)$/.test(textAt(head, 8, 4))],
  ['tiff', (head) => /^(II\*\0|MM\0\*)$/.test(textAt(head, 0, 4))],
  ['bmp', (head) => textAt(head, 0, 2) === 'BM' && head.length >= headBytes],
];

/** The format of a picture by its first bytes, whatever its name or Content-Type; `undefined`: no picture. */
export function pictureFormat(head: Uint8Array): PictureFormat | undefined {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, headBytes));
  return signatures.find(([, matches]) => matches(bytes))?.[0];
}

function textAt(bytes: Buffer, start: number, length: number): string {
  return bytes.toString('latin1', start, start + length);
}

/** The folder of pictures, within the output folder. */
export const imagesFolder = 'images';

/** Makes the folder of pictures; true: there was none. Refuses a link in its place, since it may lead anywhere. */
export async function openImagesFolder(disk: Disk, folder: string): Promise<boolean> {
  const path = `${folder}/${imagesFolder}`;
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
        new Error(`it is ${what}, and pictures are saved in a folder of that name`),
      );
    }
    return false;
  });
}
