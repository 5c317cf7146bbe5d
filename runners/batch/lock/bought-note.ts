import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import { writeAll, type Disk } from '../disk/disk.js';
import { readFile, valueOfJson, withFile } from '../disk/read-file.js';
import { replaceUnsynced } from '../disk/replace-file.js';
import { KeyCounts, KeyFile, requestKey, takenBack, wholeKeys } from './key-file.js';
import { replaceNote, usualFolders } from './owner.js';

/** The note about a run of a manifest, in the user's state folder: filed by the manifest's folder, and by some of its rows. */
export const noteSchema = z.object({
  folder: z.string(),
  manifest: z.string(),
  /** ISO time of its last start. */
  at: z.string(),
  /** Hosts of the service; empty if the run had none. */
  baseUrl: z.string(),
  lbBaseUrl: z.string(),
});

export type NotedRun = Pick<z.infer<typeof noteSchema>, 'folder' | 'manifest'>;

export type Hosts = Pick<z.infer<typeof noteSchema>, 'baseUrl' | 'lbBaseUrl'>;

/**
 * Hashes of what a run has bought, or may have, as its rows are written in its manifest or another one beside it, and as it was
 * sent: the same path in another folder leads to another picture.
 */
export type BoughtHashes = Readonly<Record<'written' | 'sent', readonly string[]>>;

/** Lists of older versions have 64 bits of each hash as hex digits; no version adds to them. */
const digits = 16;
const listsSchema = z.object({ written: z.string(), sent: z.string() });
const noLists = { written: '', sent: '' };

/**
 * The note about what the runs in a folder have bought, for starts that find it gone. It is the first line of its file; the lines of
 * `additionSchema` follow. What was bought is in a file beside it, by `keyOf`, and in the lists that older versions wrote.
 */
const boughtSchema = noteSchema.extend({
  /** The id of the run that is there. */
  run: z.string(),
  /** The length of its journal then. */
  bytes: z.int().optional(),
  /** What it has bought besides that file, as far as it is known. Absent if all that is known is in that file, and may lack some. */
  bought: listsSchema.optional(),
  /** It may have bought more: a start goes on, has died, or has more than is noted. */
  isOpen: z.boolean().optional(),
  /** The same of runs that were there before. */
  earlier: listsSchema.optional(),
  /** These may have bought more. */
  isEarlierOpen: z.boolean().optional(),
});

/** What a start adds to the note at its end; older versions added what was bought, too. */
const additionSchema = z.object({
  bought: listsSchema.optional(),
  /** Of what was added before: what was not bought after all, by one row for each hash. */
  refused: listsSchema.optional(),
  /** The length of the journal if all that the run has bought is noted now. */
  bytes: z.int().optional(),
});

/** What was bought, or may have been, and of what was noted as bought before: what was not. */
export interface PurchaseChanges {
  readonly bought: readonly BoughtHashes[];
  readonly refused: readonly BoughtHashes[];
}

/** Longer than any note that a version has written. */
const mostBoughtBytes = 16 << 20;

/** The bit of a key before that of `takenBack`. */
const isSent = 2;

/** The key of a request, with a bit for the list that it is in. */
function keyOf(hash: string, list: keyof BoughtHashes): ReturnType<typeof requestKey> {
  const { high, low } = requestKey(hash);
  return { high, low: (list === 'sent' ? low | isSent : low & ~isSent) >>> 0 };
}

function keysOf(purchases: readonly BoughtHashes[], lastBit = 0): Uint32Array {
  const words: number[] = [];
  for (const purchase of purchases)
    for (const list of ['written', 'sent'] as const)
      for (const hash of new Set(purchase[list])) {
        const { high, low } = keyOf(hash, list);
        words.push(high, low | lastBit);
      }
  return Uint32Array.from(words);
}

/** Whether a row was bought by a run in a folder that is gone. */
export interface BoughtThere extends Pick<NotedRun, 'manifest'> {
  /** False if further rows may have been bought. */
  readonly isWhole: boolean;
  /** The number of its purchases. */
  readonly size: number;
  has(hash: string, list: keyof BoughtHashes): boolean;
}

interface RunAt {
  readonly folder: string;
  readonly run: string;
  /** The length of its journal. */
  readonly bytes: number;
}

/** Whether all that the run has bought is noted. */
export async function isWhollyNoted(
  disk: Disk,
  stateFolder: string,
  { folder, run, bytes }: RunAt,
): Promise<boolean> {
  const note = await readBought(disk, boughtAt(stateFolder, folder));
  return note?.run === run && note.bytes === bytes && note.bought !== undefined && note.isOpen !== true;
}

/**
 * Writes the note as one line. Returns whether it was written.
 *
 * @param bought all that the run has bought; `undefined` if that is not known, or may become more: what is noted stays
 */
export async function noteBought(
  disk: Disk,
  stateFolder: string,
  { run, folder, bytes, ...from }: z.infer<typeof noteSchema> & RunAt,
  bought: readonly BoughtHashes[] | undefined,
): Promise<boolean> {
  const { manifest, at, baseUrl, lbBaseUrl } = from;
  const path = boughtAt(stateFolder, folder);
  await disk.mkdir(dirname(path)).catch(() => undefined);
  const before = await readBought(disk, path);
  const isSame = before?.run === run;
  const keys = keysPath(path);
  if (!isSame) await moveKeys(disk, keys, earlierPath(path));
  const areKept =
    bought === undefined ||
    (await replaceUnsynced(disk, keys, Buffer.from(keysOf(bought).buffer)).then(
      () => true,
      () => false,
    ));
  if (!areKept) return false;
  const lists = {
    bought: bought !== undefined ? noLists : isSame ? before.bought : undefined,
    earlier: isSame ? before.earlier : joined([before?.earlier, before?.bought]),
    isEarlierOpen: isSame ? before.isEarlierOpen : before !== undefined && mayHaveMore(before),
  };
  const note = {
    folder,
    manifest,
    at,
    baseUrl,
    lbBaseUrl,
    run,
    bytes,
    isOpen: bought === undefined,
    ...lists,
  };
  return replaceNote(disk, path, note);
}

/** What an earlier run in the folder has bought stays. */
async function moveKeys(disk: Disk, from: string, to: string): Promise<void> {
  const { size = 0 } = (await disk.stat(from).catch(() => undefined)) ?? {};
  if (size === 0) return;
  const added = await readFile(disk, from, size);
  const file = await disk.open(to, 'a+');
  try {
    await writeAll(file, added, wholeKeys(await file.size()));
  } finally {
    await file.close();
  }
  await disk.unlink(from);
}

/** Adds to the note that a start has written with `noteBought`. */
export class BoughtNote {
  readonly #path: string;
  readonly #keys: KeyFile | undefined;
  /** Something could not be added. */
  #hasGap = false;

  /** @param isWhole whether all that was bought before this start is noted */
  constructor(
    private readonly disk: Disk,
    stateFolder: string,
    folder: string,
    private readonly isWhole: boolean,
  ) {
    this.#path = boughtAt(stateFolder, folder);
    try {
      this.#keys = new KeyFile(disk, keysPath(this.#path));
    } catch {
      this.#hasGap = true;
    }
  }

  /** It is written when this returns, so that a request can leave. */
  add({ bought, refused }: PurchaseChanges): void {
    if (this.#keys?.add(keysOf(bought)) !== true) this.#hasGap = true;
    // What is refused now may have been in the gap, and the same may have been bought by another row.
    if (!this.#hasGap && this.#keys?.add(keysOf(refused, takenBack)) !== true) this.#hasGap = true;
  }

  /** Notes that the run has bought nothing more. Returns false if not all is noted, or that cannot be written. */
  async close(bytes: number): Promise<boolean> {
    this.#keys?.close();
    if (!this.isWhole || this.#hasGap) return false;
    const file = await this.disk.open(this.#path, 'r+').catch(() => undefined);
    if (file === undefined) return false;
    const end = await file.size();
    try {
      await writeAll(file, Buffer.from(`${JSON.stringify({ bought: noLists, bytes })}\n`), end);
      return true;
    } catch {
      await file.truncate(end).catch(() => undefined);
      return false;
    } finally {
      await file.close();
    }
  }
}

/**
 * What runs in this folder against these hosts have bought, as it was noted, `besides` the run with this id, whose journal is read.
 * `undefined` if there is no such note.
 */
export async function boughtThere(
  disk: Disk,
  folder: string,
  hosts: Hosts,
  besides?: string,
): Promise<BoughtThere | undefined> {
  // A start that could not write to the first place has noted what it has bought in the other one.
  const found = usualFolders().map(async (state) => {
    const path = boughtAt(state, folder);
    const note = await readBought(disk, path);
    return note !== undefined && isSameService(note, hosts) ? [{ ...note, path }] : [];
  });
  const notes = (await Promise.all(found)).flat().sort((one, other) => other.at.localeCompare(one.at));
  const [last] = notes;
  const lists = joined(
    notes.flatMap((note) => [note.earlier, note.run === besides ? undefined : note.bought]),
  );
  if (last === undefined) return undefined;
  const keys = new NotedKeys();
  for (const { path, run } of notes) {
    await keys.read(disk, earlierPath(path));
    if (run !== besides) await keys.read(disk, keysPath(path));
  }
  const isEarlierOpen = notes.some((note) => note.isEarlierOpen === true);
  const isWhole = !isEarlierOpen && (last.run === besides || !mayHaveMore(last));
  if (besides !== undefined && lists === undefined && keys.size === 0 && isWhole) return undefined;
  const known = { written: unpacked(lists?.written), sent: unpacked(lists?.sent) };
  return {
    manifest: last.manifest,
    isWhole,
    size: keys.size + known.written.size,
    has: (hash, list) => keys.has(hash, list) || known[list].has(hash.slice(0, digits)),
  };
}

/** Keys as they were noted. */
class NotedKeys {
  /** The number of different requests, as they are written. */
  size = 0;
  readonly #counts = new KeyCounts((low, by) => {
    if ((low & isSent) === 0) this.size += by;
  });

  has(hash: string, list: keyof BoughtHashes): boolean {
    const { high, low } = keyOf(hash, list);
    return this.#counts.has(high, low);
  }

  async read(disk: Disk, path: string): Promise<void> {
    if ((await disk.stat(path).catch(() => undefined)) === undefined) return;
    await withFile(disk, path, (file) => this.#counts.readOn({ file, read: 0 }));
  }
}

function mayHaveMore({ bought, isOpen, isEarlierOpen }: z.infer<typeof boughtSchema>): boolean {
  return bought === undefined || isOpen === true || isEarlierOpen === true;
}

type Lists = z.infer<typeof listsSchema>;

function joined(all: readonly (Lists | undefined)[]): Lists | undefined {
  const lists = all.filter((list) => list !== undefined);
  if (lists.length < 2) return lists[0];
  const together = (name: keyof Lists) => [...unpacked(lists.map((list) => list[name]).join(''))].join('');
  return { written: together('written'), sent: together('sent') };
}

function unpacked(list = ''): ReadonlySet<string> {
  return new Set(hashesIn(list));
}

function* hashesIn(list: string): Generator<string> {
  for (let at = 0; at < list.length; at += digits) yield list.slice(at, at + digits);
}

type BoughtInFolder = z.infer<typeof boughtSchema>;

async function readBought(disk: Disk, path: string): Promise<BoughtInFolder | undefined> {
  const { size = 0 } = (await disk.stat(path).catch(() => undefined)) ?? {};
  if (size === 0 || size > mostBoughtBytes) return undefined;
  try {
    const [first = '', ...lines] = (await readFile(disk, path, size)).toString().split('\n');
    const note = boughtSchema.parse(JSON.parse(first));
    return lines.length === 0 || lines[0] === '' ? note : withAdditions(note, lines);
  } catch {
    return undefined;
  }
}

/** Where a line cannot be read, or lacks its end, what a start has added was lost with the process or the power. */
function withAdditions(note: BoughtInFolder, lines: readonly string[]): BoughtInFolder {
  const read = lines.slice(0, -1).map((line) => additionSchema.safeParse(valueOfJson(line)).data);
  const additions = read.filter((addition) => addition !== undefined);
  const isSound = additions.length === read.length && lines.at(-1) === '';
  const textOf = (part: 'bought' | 'refused', name: keyof Lists) =>
    additions.map((addition) => addition[part]?.[name] ?? '').join('');
  const all = (name: keyof Lists) =>
    (note.bought?.[name] ?? '') + without(textOf('bought', name), isSound ? textOf('refused', name) : '');
  const { bytes } = (isSound && additions.at(-1)) || {};
  return {
    ...note,
    bought: { written: all('written'), sent: all('sent') },
    bytes: bytes ?? note.bytes,
    isOpen: bytes === undefined,
  };
}

function without(list: string, others: string): string {
  if (others === '') return list;
  const counts = new Map<string, number>();
  for (const hash of hashesIn(others)) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  let left = '';
  for (const hash of hashesIn(list)) {
    const count = counts.get(hash) ?? 0;
    if (count === 0) left += hash;
    else counts.set(hash, count - 1);
  }
  return left;
}

function keysPath(path: string): string {
  return path.replace(/json$/, 'bought');
}

/** Of runs that were in the folder before. */
function earlierPath(path: string): string {
  return path.replace(/json$/, 'earlier');
}

function boughtAt(stateFolder: string, folder: string): string {
  return `${stateFolder}/bought/${nameOf(folder)}.json`;
}

export function isSameService(earlier: Hosts, now: Hosts): boolean {
  const isSame = (host: keyof Hosts): boolean =>
    earlier[host] === now[host] || earlier[host] === '' || now[host] === '';
  return isSame('baseUrl') && isSame('lbBaseUrl');
}

/** The name of what is noted about a folder, a row or a host. */
export function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
