import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { readLineBlocks, readLines } from '../../batch/disk/read-lines.js';
import { parseObject, type JsonObject } from './json-object.js';
import type { ObjectScanner } from './object-scanner.js';

/** One line of a JSONL file, and where it stands. */
export interface PlacedObject {
  readonly value: JsonObject;
  readonly offset: number;
  readonly length: number;
}

/**
 * The objects of a JSONL file in flat memory; nothing when the file is missing. A line that does not parse is told to
 * `skipped` and left out, but for an unended last one: a run may be writing it just now.
 *
 * @param wanted Looks at a line before it is parsed; what it refuses is not parsed.
 */
export async function* readJsonl(
  disk: Disk,
  path: string,
  skipped: () => void,
  wanted: (line: Buffer) => boolean = () => true,
): AsyncGenerator<PlacedObject, void, void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  try {
    for await (const line of readLines(file, {}, (bytes) => bytes.length > 0 && wanted(bytes))) {
      const value = parseObject(line.bytes.toString('utf8'));
      if (value !== undefined) yield { value, offset: line.offset, length: line.bytes.length };
      else if (line.ended) skipped();
    }
  } finally {
    await file.close();
  }
}

/**
 * The same for millions of lines of which little is wanted: no object is made of a line.
 *
 * @param into.take Called with the scanner as it stands on the line.
 */
export async function scanJsonl(
  disk: Disk,
  path: string,
  scanner: ObjectScanner,
  into: {
    readonly take: (line: ObjectScanner, offset: number, length: number) => void;
    readonly skipped: () => void;
  },
): Promise<void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  try {
    for await (const { bytes, offset } of readLineBlocks(file)) {
      for (let start = 0; start < bytes.length;) {
        const at = bytes.indexOf(newline, start);
        const end = at < 0 ? bytes.length : at;
        if (end > start && scanner.scan(bytes, start, end)) into.take(scanner, offset + start, end - start);
        else if (end > start && at >= 0) into.skipped();
        start = end + 1;
      }
    }
  } finally {
    await file.close();
  }
}

const newline = 0x0a;

/** `undefined` when the file is missing. */
export async function openIfThere(disk: Disk, path: string): Promise<DiskFile | undefined> {
  const found = await disk.stat(path);
  return found?.kind === 'file' ? disk.open(path, 'r') : undefined;
}
