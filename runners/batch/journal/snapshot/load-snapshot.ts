import { crc32 } from 'node:zlib';
import type { Disk, DiskFile } from '../../disk/disk.js';
import { readAll } from '../../disk/read-all.js';
import { Recovery } from '../recovery.js';
import { numberAt, readHeader } from './read-header.js';
import { madeBy, numberBytes } from './snapshot.js';
import type { Snapshot, SnapshotHeader } from './snapshot.js';
import { snapshotPath } from './snapshot-path.js';

const pieceBytes = 1 << 20;

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
    const file = await disk.open(path, 'r');
    try {
      return await load(file, journalFile);
    } finally {
      await file.close();
    }
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
  const piece = Buffer.allocUnsafeSlow(Math.min(pieceBytes, end));
  let checksum = 0;
  for (let position = 0; position < end; position += piece.length) {
    const bytes = piece.subarray(0, Math.min(piece.length, end - position));
    await readAll(file, bytes, position);
    checksum = crc32(bytes, checksum);
  }
  return checksum;
}
