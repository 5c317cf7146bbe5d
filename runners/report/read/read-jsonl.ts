import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { readLines } from '../../batch/disk/read-lines.js';

export type JsonObject = Record<string, unknown>;

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

/** `undefined` when the file is missing. */
export async function openIfThere(disk: Disk, path: string): Promise<DiskFile | undefined> {
  const found = await disk.stat(path);
  return found?.kind === 'file' ? disk.open(path, 'r') : undefined;
}

/** `undefined` for anything but one JSON object. */
export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A finite number, or what stands in for it. */
export function numberOr<T>(value: unknown, other: T): number | T {
  return typeof value === 'number' && Number.isFinite(value) ? value : other;
}
