import { endianness } from 'node:os';
import { crc32 } from 'node:zlib';
import { version } from '../../../src/contract/version.js';
import { folderOf } from '../disk/append-file.js';
import type { Disk, DiskFile } from '../disk/disk.js';
import { fileChunks, readAll, withFile } from '../disk/read-file.js';
import { Recovery, type KeptRecovery } from './recovery.js';
import { statuses } from '../row/row-status.js';

/**
 * The snapshot of a journal's first records, if it is valid: the file is whole, this version wrote it, and the journal still
 * begins with exactly the bytes that it covers. Otherwise `undefined`: then the whole journal is read, and that reading
 * also reports what is wrong with it.
 */
export async function loadSnapshot(
  disk: Disk,
  journal: string,
  journalFile: DiskFile,
): Promise<Snapshot | undefined> {
  const path = snapshotPath(journal);
  try {
    if ((await disk.stat(path)) === undefined) return undefined;
    return await withFile(disk, path, (file) => load(file, journalFile));
  } catch {
    return undefined;
  }
}

async function load(file: DiskFile, journal: DiskFile): Promise<Snapshot | undefined> {
  const end = (await file.size()) - numberBytes;
  if (end < numberBytes || (await checksumOf(file, end)) !== (await numberAt(file, end))) return undefined;
  const { header, headerEnd } = await readHeader(file);
  if (header.made !== madeBy) return undefined;
  if ((await checksumOf(journal, header.end)) !== header.checksum) return undefined;
  return {
    recovery: await readRecovery(file, headerEnd, header),
    end: header.end,
    checksum: header.checksum,
  };
}

async function readRecovery(file: DiskFile, start: number, { kept }: SnapshotHeader): Promise<Recovery> {
  const recovery = new Recovery();
  const flag = new Uint8Array(1);
  let position = start;
  const fill = async (into: Uint8Array): Promise<void> => {
    await readAll(file, into, position);
    position += into.length;
  };
  for (const [column, length] of recovery.columns(kept)) {
    const chunks = [...column.chunksOf(length)].length;
    for (let chunk = 0; chunk < chunks; chunk++) {
      await fill(flag);
      if (flag[0] === 1) await fill(column.chunkAt(chunk));
    }
  }
  recovery.restore(kept);
  return recovery;
}

async function checksumOf(file: DiskFile, end: number): Promise<number> {
  let checksum = 0;
  for await (const bytes of fileChunks(file, end)) checksum = crc32(bytes, checksum);
  return checksum;
}

/** Reads the header, and the byte at which the table's columns begin. Checks nothing. */
export async function readHeader(file: DiskFile): Promise<{ header: SnapshotHeader; headerEnd: number }> {
  const headerEnd = numberBytes + (await numberAt(file, 0));
  if (headerEnd > (await file.size())) throw new RangeError('the header is longer than the file');
  const text = Buffer.alloc(headerEnd - numberBytes);
  await readAll(file, text, numberBytes);
  return { header: JSON.parse(text.toString()) as SnapshotHeader, headerEnd };
}

async function numberAt(file: DiskFile, position: number): Promise<number> {
  const bytes = Buffer.alloc(numberBytes);
  await readAll(file, bytes, position);
  return bytes.readUInt32LE();
}

/** The state after the first bytes of a journal, and the length and checksum of these bytes. */
export interface Snapshot {
  readonly recovery: Recovery;
  /** How many bytes of the journal it covers: whole lines. */
  readonly end: number;
  /** Their CRC-32. */
  readonly checksum: number;
}

/** The JSON in front of the table's columns. */
export interface SnapshotHeader {
  readonly made: string;
  readonly end: number;
  readonly checksum: number;
  readonly kept: KeptRecovery;
}

/** Reading this many bytes of a journal takes a fifth of a second. */
export const bytesASnapshot = 16 << 20;

/** Bytes of a number at either end of the file, little-endian: the header's length in front, the file's CRC-32 behind. */
export const numberBytes = 4;

/** Raised when something else is kept, or means something else. */
const format = 9;

/** The writer of a snapshot: only the same version reads it, on a machine with the same byte order. */
export const madeBy = JSON.stringify({ format, version, order: endianness(), statuses });

/** Beside the journal. It may be removed at any time: the next start reads the whole journal then. */
export function snapshotPath(journal: string): string {
  return `${folderOf(journal)}/.journal.snapshot`;
}
