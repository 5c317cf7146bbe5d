import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { readFile, readLineBlocks, readLines } from '../../batch/disk/read-file.js';
import { parseObject, type JsonObject } from './json-object.js';

/**
 * The objects of a JSONL file in constant memory; nothing if the file is missing. A line that does not parse is left out.
 *
 * @param wanted called before a line is parsed; false skips the line
 */
export async function* readJsonl(
  disk: Disk,
  path: string,
  wanted: (line: Buffer) => boolean = () => true,
): AsyncGenerator<JsonObject, void, void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  try {
    for await (const { bytes } of readLines(file, {}, wanted)) {
      const value = parseObject(bytes.toString('utf8'));
      if (value !== undefined) yield value;
    }
  } finally {
    await file.close();
  }
}

/**
 * The same with the position of each line, for millions of lines: it creates no promise for each.
 *
 * @param skipped called for a line that does not parse, except a last one without a newline, because a run may be writing it
 */
export async function parseJsonl(
  disk: Disk,
  path: string,
  take: (line: JsonObject, offset: number, length: number) => void,
  skipped: () => void = () => undefined,
): Promise<void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  const takeBlock = (bytes: Buffer, offset: number): void => {
    for (let start = 0; start < bytes.length;) {
      const at = bytes.indexOf(newline, start);
      const end = at < 0 ? bytes.length : at;
      const line = end > start ? parseObject(bytes.toString('utf8', start, end)) : undefined;
      if (line !== undefined) take(line, offset + start, end - start);
      else if (end > start && at >= 0) skipped();
      start = end + 1;
    }
  };
  try {
    for await (const { bytes, offset } of readLineBlocks(file, { chunkBytes })) takeBlock(bytes, offset);
  } finally {
    await file.close();
  }
}

/** Large, because each read costs a round trip to another thread. */
const chunkBytes = 4 << 20;

/**
 * The objects of the few lines, among millions, that contain one of the texts; other lines are not parsed. Lines that
 * do not parse are left out.
 *
 * @param texts called before each text is searched; the lines of the first one come first
 */
export async function* objectsWith(
  disk: Disk,
  path: string,
  texts: () => readonly Buffer[],
): AsyncGenerator<JsonObject, void, void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  try {
    for await (const { bytes } of readLineBlocks(file, { chunkBytes })) {
      for (let which = 0; which < texts().length; which++) {
        for (let at = 0, end = 0; ; at = end) {
          const text = texts()[which];
          const found = text === undefined ? -1 : bytes.indexOf(text, at);
          if (found < 0) break;
          const next = bytes.indexOf(newline, found);
          end = next < 0 ? bytes.length : next;
          const value = parseObject(bytes.toString('utf8', bytes.lastIndexOf(newline, found) + 1, end));
          if (value !== undefined) yield value;
        }
      }
    }
  } finally {
    await file.close();
  }
}

const newline = 0x0a;

/** `undefined` if the file is missing. */
export async function openIfThere(disk: Disk, path: string): Promise<DiskFile | undefined> {
  const found = await disk.stat(path);
  return found?.kind === 'file' ? disk.open(path, 'r') : undefined;
}

/** The bytes of a file, or its first `most`; `undefined` if the file is missing. */
export async function readIfThere(disk: Disk, path: string, most = Infinity): Promise<Buffer | undefined> {
  const found = await disk.stat(path);
  return found?.kind === 'file' ? readFile(disk, path, Math.min(found.size, most)) : undefined;
}

const headBytes = 64;
/** The kind of a journal record from the head of its line, without parsing; `undefined` if the head does not show it. */
export function recordKind(line: Buffer): string | undefined {
  return /"k":"([^"]*)"/.exec(line.toString('latin1', 0, headBytes))?.[1];
}
