import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { readFile, readLineBlocks, readLines } from '../../batch/disk/read-file.js';
import { parseObject, type JsonObject } from './json-object.js';
import type { ObjectScanner } from './object-scanner.js';

/** One line of a JSONL file, and its position. */
export interface PlacedObject {
  readonly value: JsonObject;
  readonly offset: number;
  readonly length: number;
}

/**
 * The objects of a JSONL file in constant memory; nothing if the file is missing. A line that does not parse is skipped and
 * reported to `skipped`; a last line without a newline is only skipped, because a run may be writing it.
 *
 * @param wanted called before a line is parsed; false skips the line
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

/** Receives the lines of a file, one after another. */
interface LineTaker<T> {
  readonly take: (line: T, offset: number, length: number) => void;
  /** Called for a line that does not parse. */
  readonly skipped: () => void;
}

/**
 * Like `readJsonl`, for millions of lines of which only little is read: no object is created for a line.
 *
 * @param into.take called with the scanner at the line
 */
export function scanJsonl(
  disk: Disk,
  path: string,
  scanner: ObjectScanner,
  into: LineTaker<ObjectScanner>,
): Promise<void> {
  return takeLines(disk, path, into, (bytes, start, end) =>
    scanner.scan(bytes, start, end) ? scanner : undefined,
  );
}

/** Like `readJsonl`, but creates no promise for each line. */
export function parseJsonl(disk: Disk, path: string, into: LineTaker<JsonObject>): Promise<void> {
  return takeLines(disk, path, into, (bytes, start, end) => parseObject(bytes.toString('utf8', start, end)));
}

async function takeLines<T>(
  disk: Disk,
  path: string,
  { take, skipped }: LineTaker<T>,
  parse: (bytes: Buffer, start: number, end: number) => T | undefined,
): Promise<void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  const takeBlock = (bytes: Buffer, offset: number): void => {
    for (let start = 0; start < bytes.length;) {
      const at = bytes.indexOf(newline, start);
      const end = at < 0 ? bytes.length : at;
      const line = end > start ? parse(bytes, start, end) : undefined;
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
const key = [...Buffer.from('"k":"')];
const quote = 0x22;

/** The kind of a journal record from the head of its line, without parsing; `undefined` if the head does not show it. */
export function recordKind(line: Buffer): string | undefined {
  const end = Math.min(line.length, headBytes);
  let at = 0;
  while (at < end && !isKeyAt(line, at)) at++;
  const start = at + key.length;
  for (let close = start; close < end; close++)
    if (line[close] === quote) return line.toString('latin1', start, close);
  return undefined;
}

function isKeyAt(line: Buffer, at: number): boolean {
  for (let i = 0; i < key.length; i++) if (line[at + i] !== key[i]) return false;
  return true;
}
