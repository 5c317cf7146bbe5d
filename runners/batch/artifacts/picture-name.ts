import { createHash } from 'node:crypto';
import type { PictureFormat } from './picture-format.js';

/** Longer ids are cut: with its ending and a temporary one, a name stays well under 255 bytes. */
const longestPlain = 100;
const plain = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/;
/** Names that Windows keeps for devices, with any ending. */
const device = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** How a picture is called. */
export interface PictureName {
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
  const marks = [
    ...(collides || !isPlain(id) ? [shortHash(id)] : []),
    ...(apart === undefined ? [] : [shortHash(`${id}\n${apart}`)]),
  ];
  return `${[isPlain(id) ? id : clean(id), ...marks].join('~')}.${format}`;
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
