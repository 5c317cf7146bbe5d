import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import { writeAll, type Disk } from '../disk/disk.js';
import { readFile, valueOfJson } from '../disk/read-file.js';
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

/** Only this much of a hash is noted: 64 bits, as hex digits. */
const digits = 16;
const listsSchema = z.object({ written: z.string(), sent: z.string() });

/**
 * The note about what the runs in a folder have bought, for starts that find it gone. It is the first line of its file; the lines of
 * `additionSchema` follow.
 */
const boughtSchema = noteSchema.extend({
  /** The id of the run that is there. */
  run: z.string(),
  /** The length of its journal then. */
  bytes: z.int().optional(),
  /** What it has bought. Absent if that is not known. */
  bought: listsSchema.optional(),
  /** It may have bought more: a start goes on, has died, or has more than is noted. */
  isOpen: z.boolean().optional(),
  /** The same of runs that were there before. */
  earlier: listsSchema.optional(),
  /** These may have bought more. */
  isEarlierOpen: z.boolean().optional(),
});

/** What a start adds to the note while it goes on, and at its end. */
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

/** Nothing is added to a longer file: a quarter of a million purchases, which each start reads in a quarter of a second. */
const mostAddedBytes = 8 << 20;
/** Such a file, and far more than the purchases of a journal that is read for such a note: see `purchasesOf`. */
const mostBoughtBytes = 16 << 20;

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
  const before = await readBought(disk, path);
  const isSame = before?.run === run;
  const lists = {
    bought: bought !== undefined ? listsOf(bought) : isSame ? before.bought : undefined,
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
  await disk.mkdir(dirname(path)).catch(() => undefined);
  return replaceNote(disk, path, note);
}

/** Adds to the note that a start has written with `noteBought`. */
export class BoughtNote {
  readonly #path: string;
  /** The length of its file. `undefined` if this start has added nothing. */
  #end: number | undefined;
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
  }

  async add({ bought, refused }: PurchaseChanges): Promise<void> {
    if (bought.length + refused.length === 0) return;
    const isAdded = await this.#append({
      bought: listsOf(bought, asTheyAre),
      // What is refused now may have been in the gap, and the same may have been bought by another row.
      ...(refused.length > 0 && !this.#hasGap && { refused: listsOf(refused, asTheyAre) }),
    });
    if (!isAdded) this.#hasGap = true;
  }

  /** Notes that the run has bought nothing more. Returns false if not all is noted, or that cannot be written. */
  async close(bytes: number): Promise<boolean> {
    return this.isWhole && !this.#hasGap && this.#append({ bought: listsOf([]), bytes });
  }

  async #append(line: z.infer<typeof additionSchema>): Promise<boolean> {
    const file = await this.disk.open(this.#path, 'r+').catch(() => undefined);
    if (file === undefined) return false;
    try {
      const bytes = Buffer.from(`${JSON.stringify(line)}\n`);
      const end = await file.size();
      if (end !== (this.#end ?? end) || end + bytes.length > mostAddedBytes) return false;
      await writeAll(file, bytes, end).catch(async (fault: unknown) => {
        await file.truncate(end);
        throw fault;
      });
      this.#end = end + bytes.length;
      return true;
    } catch {
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
  const notes = (await Promise.all(usualFolders().map((state) => readBought(disk, boughtAt(state, folder)))))
    .flatMap((note) => (note !== undefined && isSameService(note, hosts) ? [note] : []))
    .sort((one, other) => other.at.localeCompare(one.at));
  const [last] = notes;
  const lists = joined(
    notes.flatMap((note) => [note.earlier, note.run === besides ? undefined : note.bought]),
  );
  if (last === undefined) return undefined;
  const isEarlierOpen = notes.some((note) => note.isEarlierOpen === true);
  const isWhole = !isEarlierOpen && (last.run === besides || !mayHaveMore(last));
  if (besides !== undefined && lists === undefined && isWhole) return undefined;
  const known = { written: unpacked(lists?.written), sent: unpacked(lists?.sent) };
  return {
    manifest: last.manifest,
    isWhole,
    size: known.written.size,
    has: (hash, list) => known[list].has(hash.slice(0, digits)),
  };
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

const once = (hashes: readonly string[]): Iterable<string> => new Set(hashes);
/** A hash may stand there for several rows, of which one was refused. */
const asTheyAre = (hashes: readonly string[]): Iterable<string> => hashes;

function listsOf(all: readonly BoughtHashes[], each = once): Lists {
  const listOf = (name: keyof BoughtHashes) =>
    [...each(all.flatMap((hashes) => hashes[name].map((hash) => hash.slice(0, digits))))].join('');
  return { written: listOf('written'), sent: listOf('sent') };
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
