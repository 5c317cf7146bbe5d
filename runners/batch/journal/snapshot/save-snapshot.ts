import { crc32 } from 'node:zlib';
import type { Disk } from '../../disk/disk.js';
import { replaceFile } from '../../disk/replace-file.js';
import type { RecoveredFile } from '../recover.js';
import { bytesASnapshot, madeBy, numberBytes } from './snapshot.js';
import type { Snapshot, SnapshotHeader } from './snapshot.js';
import { snapshotPath } from './snapshot-path.js';

/**
 * Saves the state that a journal led to beside it, so that the next start reads only the newer records. It replaces the last
 * snapshot atomically. If the disk fails, there is no new snapshot, and nothing is lost.
 *
 * @param every Bytes that the journal must have grown by since the last snapshot.
 */
export async function saveSnapshot(
  disk: Disk,
  journal: string,
  { recovery, goodEnd: end, checksum, newlineMissing, snapshotEnd }: RecoveredFile,
  every: number = bytesASnapshot,
): Promise<void> {
  if (newlineMissing || !recovery.isPlain || end - snapshotEnd < every) return;
  const content = sealed({ recovery, end, checksum });
  await replaceFile(disk, snapshotPath(journal), content).catch(() => undefined);
}

/** With a checksum of all of it at the end. */
function* sealed(snapshot: Snapshot): Generator<Uint8Array, void, void> {
  let checksum = 0;
  for (const piece of pieces(snapshot)) {
    checksum = crc32(piece, checksum);
    yield piece;
  }
  yield numberAsBytes(checksum);
}

function* pieces({ recovery, end, checksum }: Snapshot): Generator<Uint8Array, void, void> {
  const { kept } = recovery;
  const header: SnapshotHeader = { made: madeBy, end, checksum, kept };
  const text = Buffer.from(JSON.stringify(header));
  yield numberAsBytes(text.length);
  yield text;
  for (const [column, length] of recovery.columns()) {
    for (const chunk of column.chunksOf(length)) {
      yield Uint8Array.of(chunk ? 1 : 0);
      if (chunk) yield chunk;
    }
  }
}

function numberAsBytes(value: number): Buffer {
  const bytes = Buffer.alloc(numberBytes);
  bytes.writeUInt32LE(value);
  return bytes;
}
