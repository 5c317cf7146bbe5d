import type { DiskFile } from '../../disk/disk.js';
import { readAll } from '../../disk/read-all.js';
import { numberBytes } from './snapshot.js';
import type { SnapshotHeader } from './snapshot.js';

/** What stands in front of the table's columns, and where they begin. Nothing of it is checked. */
export async function readHeader(file: DiskFile): Promise<{ header: SnapshotHeader; headerEnd: number }> {
  const headerEnd = numberBytes + (await numberAt(file, 0));
  if (headerEnd > (await file.size())) throw new RangeError('the header is longer than the file');
  const text = Buffer.alloc(headerEnd - numberBytes);
  await readAll(file, text, numberBytes);
  return { header: JSON.parse(text.toString()) as SnapshotHeader, headerEnd };
}

export async function numberAt(file: DiskFile, position: number): Promise<number> {
  const bytes = Buffer.alloc(numberBytes);
  await readAll(file, bytes, position);
  return bytes.readUInt32LE();
}
