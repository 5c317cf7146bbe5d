import { endianness } from 'node:os';
import { version } from '../../../src/contract/version.js';
import { folderOf, type Disk, type DiskFile } from '../disk/disk.js';
import { withFile } from '../disk/read-file.js';
import { checksumOf, openSealed, readHeader, type SealedFile, sealed } from '../disk/sealed-file.js';
import type { Snapshot, RecoveredFile } from './recover.js';
import { Recovery, type KeptRecovery } from './recovery.js';
import { statuses } from '../row/row-status.js';
import { replaceFile } from '../disk/replace-file.js';

/**
 * Loads the snapshot of a journal's first records, if it is valid: the file is whole, this version wrote it, and the
 * journal still begins with exactly the bytes that it covers. Otherwise `undefined`: then the whole journal is read,
 * which also reports what is wrong with it.
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
  const whole = await openSealed<SnapshotHeader>(file);
  if (whole?.header.made !== madeBy) return undefined;
  const { end, checksum } = whole.header;
  if ((await checksumOf(journal, end)) !== checksum) return undefined;
  return { recovery: await readRecovery(whole), end, checksum };
}

async function readRecovery({ header: { kept }, fill }: SealedFile<SnapshotHeader>): Promise<Recovery> {
  const recovery = new Recovery();
  const flag = new Uint8Array(1);
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

/** The JSON before the table's columns in the file. */
export interface SnapshotHeader {
  readonly made: string;
  readonly end: number;
  readonly checksum: number;
  readonly kept: KeptRecovery;
}

/** A snapshot is worth it after this many bytes; reading them takes a fifth of a second. */
export const bytesASnapshot = 16 << 20;

/** To be raised when the content of a snapshot changes or gets another meaning. */
const format = 13;

/** The writer of a snapshot: only the same version can read it, on a machine with the same byte order. */
export const madeBy = JSON.stringify({ format, version, order: endianness(), statuses });

/** How many bytes of a journal are not covered by a snapshot of this version. Reads only the snapshot's header. */
export async function bytesBehindSnapshot(disk: Disk, journal: string): Promise<number> {
  const size = (await disk.stat(journal))?.size ?? 0;
  const path = snapshotPath(journal);
  if ((await disk.stat(path)) === undefined) return size;
  const { header } = await withFile(disk, path, (file) => readHeader<SnapshotHeader>(file));
  return header.made === madeBy ? size - header.end : size;
}

/** The file beside the journal. It may be removed at any time: the next start then reads the whole journal. */
export function snapshotPath(journal: string): string {
  return `${folderOf(journal)}/.journal.snapshot`;
}

/**
 * Saves the state that a journal leads to beside it, so that the next start reads only the newer records. It replaces
 * the last snapshot atomically. If the disk fails, there is no new snapshot, and nothing is lost.
 *
 * @param every By how many bytes the journal must have grown since the last snapshot.
 */
export async function saveSnapshot(
  disk: Disk,
  journal: string,
  { recovery, goodEnd: end, checksum, newlineMissing, snapshotEnd }: RecoveredFile,
  every: number = bytesASnapshot,
): Promise<void> {
  if (newlineMissing || !recovery.isPlain || end - snapshotEnd < every) return;
  const header: SnapshotHeader = { made: madeBy, end, checksum, kept: recovery.kept };
  const bytes = sealed(header, columnBytes(recovery));
  await replaceFile(disk, snapshotPath(journal), bytes).catch(() => undefined);
}

/** The columns; before each chunk, a byte says whether it is stored. */
function* columnBytes(recovery: Recovery): Generator<Uint8Array, void, void> {
  for (const [column, length] of recovery.columns()) {
    for (const chunk of column.chunksOf(length)) {
      yield Uint8Array.of(chunk ? 1 : 0);
      if (chunk) yield chunk;
    }
  }
}
