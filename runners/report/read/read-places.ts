import { join } from 'node:path';
import type { Disk, DiskFile } from '../../batch/disk/disk.js';
import { parseObject, type JsonObject } from './json-object.js';
import { openIfThere } from './read-jsonl.js';

/** A line of one of the run's files. */
export interface Place {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

export interface PlaceReader {
  /** The objects at these places, in their order; `undefined` where a line has changed since it was surveyed. */
  read(places: readonly Place[]): Promise<(JsonObject | undefined)[]>;
  /** The same as bytes; empty where the file has become too short. */
  readBytes(places: readonly Place[]): Promise<Buffer[]>;
  close(): Promise<void>;
}

/** Lines closer to each other than this are read in one go. */
const nearBytes = 64 * 1024;
const maxReadBytes = 8 * 2 ** 20;

/** Reads lines by where they stand: a run writes them as they end, the report shows them in the order of the manifest. */
export async function openPlaces(disk: Disk, folder: string, names: readonly string[]): Promise<PlaceReader> {
  const files = await openAll(disk, folder, names);
  const readBytes = async (places: readonly Place[]): Promise<Buffer[]> => {
    const found = new Map<Place, Buffer>();
    for (const [name, file] of files) {
      const inFile = places.filter((place) => place.file === name).sort((a, b) => a.offset - b.offset);
      for (const group of neighbours(inFile)) await readGroup(file, group, found);
    }
    return places.map((place) => found.get(place) ?? nothing);
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

function neighbours(sorted: readonly Place[]): Place[][] {
  const groups: Place[][] = [];
  let begin = 0;
  let end = -Infinity;
  for (const place of sorted) {
    const joins = place.offset - end < nearBytes && place.offset + place.length - begin < maxReadBytes;
    if (!joins) begin = place.offset;
    if (joins) groups.at(-1)?.push(place);
    else groups.push([place]);
    end = place.offset + place.length;
  }
  return groups;
}

async function readGroup(file: DiskFile, group: readonly Place[], found: Map<Place, Buffer>): Promise<void> {
  const from = group[0]?.offset ?? 0;
  const last = group.at(-1);
  const bytes = Buffer.allocUnsafe(last === undefined ? 0 : last.offset + last.length - from);
  let filled = 0;
  while (filled < bytes.length) {
    const count = await file.read(bytes.subarray(filled), from + filled);
    if (count === 0) break;
    filled += count;
  }
  for (const place of group) {
    const start = place.offset - from;
    found.set(place, bytes.subarray(Math.min(start, filled), Math.min(start + place.length, filled)));
  }
}
