import { join } from 'node:path';
import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { readUpTo } from '../../batch/disk/read-file.js';
import { parseObject, type JsonObject } from './json-object.js';
import { openIfThere } from './read-jsonl.js';

/** A line of one of the run's files. */
export interface Place {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

export interface PlaceReader {
  /** The objects at these places, in their order; `undefined` for a line that has changed since the survey. */
  read(places: readonly Place[]): Promise<(JsonObject | undefined)[]>;
  /**
   * The lines as bytes; empty if the file has become too short.
   *
   * @param room memory for the lines, valid until it is used again. @defaultValue new memory
   */
  readBytes(places: readonly Place[], room?: Room): Promise<Buffer[]>;
  close(): Promise<void>;
}

const mostKeptBytes = 4 << 20;

/** Reused memory, because each new large buffer makes the collector scan the whole heap. */
export class Room {
  private bytes = Buffer.alloc(0);
  private used = 0;

  /** A buffer of this many bytes, with any content. Buffers taken before `clear` stay unchanged. */
  take(length: number): Buffer {
    if (this.used + length > this.bytes.length) {
      // A little more, because the next request may be larger.
      this.bytes = Buffer.allocUnsafeSlow(Math.max(length + (length >>> 3), this.bytes.length));
      this.used = 0;
    }
    return this.bytes.subarray(this.used, (this.used += length));
  }

  clear(): void {
    this.used = 0;
    if (this.bytes.length > mostKeptBytes) this.bytes = Buffer.alloc(0);
  }
}

/** Lines closer to each other than this are read in one go. */
const nearBytes = 64 * 1024;
const maxReadBytes = 8 * 2 ** 20;

/** Reads lines by their positions: a run writes them as rows end, the report shows them in manifest order. */
export async function openPlaces(disk: Disk, folder: string, names: readonly string[]): Promise<PlaceReader> {
  const files = await openAll(disk, folder, names);
  const readBytes = async (places: readonly Place[], room?: Room): Promise<Buffer[]> => {
    const found = places.map(() => nothing);
    const placed = places.map((place, index) => ({ place, index }));
    for (const [name, file] of files) {
      const inFile = placed.filter(({ place }) => place.file === name);
      inFile.sort((a, b) => a.place.offset - b.place.offset);
      for (const group of neighbours(inFile)) await readGroup(file, group, found, room);
    }
    return found;
  };
  return {
    readBytes,
    read: async (places) => (await readBytes(places)).map((bytes) => parseObject(bytes.toString('utf8'))),
    async close() {
      for (const file of files.values()) await file.close();
    },
  };
}

/** All of them or, on an error, none. */
async function openAll(disk: Disk, folder: string, names: readonly string[]): Promise<Map<string, DiskFile>> {
  const files = new Map<string, DiskFile>();
  try {
    for (const name of names) {
      const file = await openIfThere(disk, join(folder, name));
      if (file !== undefined) files.set(name, file);
    }
    return files;
  } catch (error) {
    for (const file of files.values()) await file.close();
    throw error;
  }
}

const nothing = Buffer.alloc(0);

/** A place, and its index among the requested ones. */
interface AskedPlace {
  readonly place: Place;
  readonly index: number;
}

function neighbours(sorted: readonly AskedPlace[]): AskedPlace[][] {
  const groups: AskedPlace[][] = [];
  let begin = 0;
  let end = -Infinity;
  for (const asked of sorted) {
    const { offset, length } = asked.place;
    const joins = offset - end < nearBytes && offset + length - begin < maxReadBytes;
    if (!joins) begin = offset;
    if (joins) groups.at(-1)?.push(asked);
    else groups.push([asked]);
    end = offset + length;
  }
  return groups;
}

async function readGroup(
  file: DiskFile,
  group: readonly AskedPlace[],
  found: Buffer[],
  room: Room | undefined,
): Promise<void> {
  const from = group[0]?.place.offset ?? 0;
  const last = group.at(-1)?.place;
  const length = last === undefined ? 0 : last.offset + last.length - from;
  const bytes = room?.take(length) ?? Buffer.allocUnsafe(length);
  const filled = await readUpTo(file, bytes, from);
  for (const { place, index } of group) {
    const start = place.offset - from;
    found[index] = bytes.subarray(Math.min(start, filled), Math.min(start + place.length, filled));
  }
}
