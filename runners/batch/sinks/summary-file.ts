import type { Disk } from '../disk/disk.js';
import { onDisk } from '../disk/disk-fault.js';
import { readText } from '../disk/read-text.js';
import { replaceFile } from '../disk/replace-file.js';
import type { Summary } from './summary.js';

/** Writes summary.json beside the old one, then puts it in its place. */
export async function writeSummary(disk: Disk, folder: string, summary: Summary): Promise<void> {
  const path = `${folder}/summary.json`;
  await onDisk(path, () => replaceFile(disk, path, `${JSON.stringify(summary, undefined, 2)}\n`));
}

/** The summary as it stands in the folder; `undefined` where there is none that can be read. */
export async function readSummary(disk: Disk, folder: string): Promise<Summary | undefined> {
  const path = `${folder}/summary.json`;
  const found = await onDisk(path, () => disk.stat(path));
  if (found?.kind !== 'file') return undefined;
  const text = await onDisk(path, () => readText(disk, path, found.size));
  try {
    const value: unknown = JSON.parse(text);
    return isSummary(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A person may have edited it: what a later start relies on is looked at. */
function isSummary(value: unknown): value is Summary {
  if (!isObject(value)) return false;
  if (![value['rows'], value['cost'], value['times'], value['thisStart']].every(isObject)) return false;
  if (!('covers' in value) || value.covers === undefined) return true;
  const { records, files } = (value.covers ?? {}) as { records?: unknown; files?: unknown };
  return (
    Number.isSafeInteger(records) &&
    typeof files === 'object' &&
    files !== null &&
    Object.values(files).every(isMark)
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function isMark(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { bytes, crc, columns } = value as { bytes?: unknown; crc?: unknown; columns?: unknown };
  const hasColumns =
    columns === undefined || (Array.isArray(columns) && columns.every((name) => typeof name === 'string'));
  return Number.isSafeInteger(bytes) && Number(bytes) >= 0 && typeof crc === 'number' && hasColumns;
}
