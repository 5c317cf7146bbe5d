import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import { realPlace, writeAll, type Disk } from '../disk/disk.js';
import { readFile, valueOfJson } from '../disk/read-file.js';
import { readNote, replaceNote, usualFolders, writeNote } from './owner.js';

/** The note about a run of a manifest, in the user's state folder: filed by the manifest's folder, and by some of its rows. */
const noteSchema = z.object({
  folder: z.string(),
  manifest: z.string(),
  /** ISO time of its last start. */
  at: z.string(),
  /** Hosts of the service; empty if the run had none. */
  baseUrl: z.string(),
  lbBaseUrl: z.string(),
});

export type NotedRun = Pick<z.infer<typeof noteSchema>, 'folder' | 'manifest'>;

type Hosts = Pick<z.infer<typeof noteSchema>, 'baseUrl' | 'lbBaseUrl'>;

/** A manifest, and the hosts of its rows; an empty host matches any. */
export interface ManifestOf extends Hosts {
  /** Absolute path. */
  readonly manifest: string;
  /** The hashes of some of its rows, which a manifest with most of these rows has too: see `RowSample`. @defaultValue none */
  readonly sample?: readonly string[] | undefined;
  /** The hashes of some of its rows without their pictures, which are uploaded. @defaultValue none */
  readonly similar?: readonly string[] | undefined;
  /** The hashes of some requests that a start is about to send. @defaultValue none */
  readonly sending?: readonly string[] | undefined;
}

export interface NotePlace {
  readonly disk: Disk;
  /** @defaultValue the user's state folder, then the folder for temporary files */
  readonly stateFolders?: readonly string[] | undefined;
}

/** So many of the latest runs of a manifest, and of those that share rows, are always compared. */
const mostLatest = 10;

/**
 * The runs against these hosts that were started with this manifest, or with others in the same folder: exports of other days, copies,
 * a renamed manifest. Runs of exactly this manifest come first, and of these the latest ones. Rehearsals are not included.
 */
const runsOfManifest = (disk: Disk, of: ManifestOf) =>
  runsUnder([nameOf(dirname(of.manifest))], { disk }, of);

/** The runs that share rows of the sample, wherever their manifests were: copies, or exports of another day. */
const runsOfRows = (disk: Disk, of: ManifestOf) => runsUnder(of.sample ?? [], { disk }, of, hostPart(of));

/** The runs that have uploaded pictures for the same requests: of other pictures, or of these under other names. */
const runsOfUploads = (disk: Disk, of: ManifestOf) =>
  runsUnder(of.similar ?? [], { disk }, of, uploadsPart(of));

/** All runs with a start that was about to send these requests, even if they have ended since. */
export const runsSending = (place: NotePlace, of: ManifestOf) =>
  runsUnder(of.sending ?? [], place, of, sendingPart(of));

/** Whether there is any run that may have bought the manifest's requests. */
export async function isAnyRunOf(disk: Disk, of: ManifestOf): Promise<boolean> {
  return (await runsOfManifest(disk, of)).length > 0 || (await runsOfRows(disk, of)).length > 0;
}

/** A start whose requests other runs may have bought. */
export interface StartOf {
  readonly disk: Disk;
  readonly out: string;
  readonly manifest: { readonly path: string };
  readonly identity: Hosts & { readonly local: boolean };
}

/** A run that may have bought the requests of a start. */
export interface OtherRun extends NotedRun {
  /** It was in the folder of the start. */
  readonly isOwn: boolean;
  /** Its manifest is in the same folder, so that paths lead to the same pictures. */
  readonly isBeside: boolean;
  /** There are many later ones. */
  readonly isEarlier: boolean;
  /** It is known to share rows with this one, or was in the same folder with the same manifest. */
  readonly isRelated: boolean;
}

/**
 * The other runs that may have bought the requests of this start: runs of the same manifest, and runs anywhere that share rows
 * of a sample. For a new run also runs of manifests in the same folder; for one that has begun also runs that used its
 * failures.jsonl as a manifest, and those that were in its folder before. Runs against other hosts are left out, because those are
 * other services; rehearsals are never noted.
 *
 * @param begun the id of the run that goes on; `undefined` for a new one
 * @param samples the hashes of rows
 */
export async function otherRuns(
  { disk, out, manifest: { path }, identity }: StartOf,
  begun: string | undefined,
  samples: Pick<ManifestOf, 'sample' | 'similar'>,
): Promise<OtherRun[]> {
  const { baseUrl, lbBaseUrl, local } = identity;
  if (local) return [];
  const of = { manifest: path, ...samples, baseUrl, lbBaseUrl };
  const [beside, byRows] = [await runsOfManifest(disk, of), await runsOfRows(disk, of)];
  const own = await realPlace(disk, out);
  const [noted, isBegun] = [await boughtThere(disk, own, identity, begun), begun !== undefined];
  const shared = new Set(byRows.map(({ folder }) => folder));
  const failures = isBegun ? await runsOfManifest(disk, { ...of, manifest: `${out}/failures.jsonl` }) : [];
  const runs = [
    isBegun ? beside.filter(({ manifest }) => manifest === path) : beside,
    byRows,
    noted ? [{ folder: own, manifest: noted.manifest }] : [],
    failures,
    await runsOfUploads(disk, of),
  ];
  const latest = runs.flatMap((list) => list.slice(0, mostLatest));
  const folders = new Set(isBegun && noted === undefined ? [own] : []);
  return [...latest, ...runs.flatMap((list) => list.slice(mostLatest))]
    .filter(({ folder }) => !folders.has(folder) && folders.add(folder))
    .map((run) => {
      const [isOwn, isBeside] = [run.folder === own, dirname(run.manifest) === dirname(path)];
      const isRelated = shared.has(run.folder) || (isOwn && run.manifest === path);
      return { ...run, isOwn, isBeside, isRelated, isEarlier: !latest.includes(run) };
    });
}

async function runsUnder(
  names: readonly string[],
  { disk, stateFolders = usualFolders() }: NotePlace,
  { manifest, ...hosts }: ManifestOf,
  start = '',
): Promise<readonly NotedRun[]> {
  const folders = stateFolders.flatMap((state) => names.map((name) => notesAt(state, name)));
  const noted = await Promise.all(folders.map((folder) => notesIn(disk, folder, start)));
  const notes = noted.flat().filter((note) => isSameService(note, hosts));
  const isOther = (note: { readonly manifest: string }) => Number(note.manifest !== manifest);
  const last = notes.sort((one, other) => isOther(one) - isOther(other) || other.at.localeCompare(one.at));
  const seen = new Set<string>();
  return last.filter(({ folder }) => !seen.has(folder) && seen.add(folder));
}

async function notesIn(disk: Disk, folder: string, start: string): Promise<z.infer<typeof noteSchema>[]> {
  const notes: z.infer<typeof noteSchema>[] = [];
  for (const name of await disk.list(folder).catch((): string[] => [])) {
    if (!name.startsWith(start)) continue;
    const note = await readNote(disk, `${folder}/${name}`, noteSchema).catch(() => undefined);
    if (note !== undefined) notes.push(note);
  }
  return notes;
}

function isSameService(earlier: Hosts, now: Hosts): boolean {
  const isSame = (host: keyof Hosts): boolean =>
    earlier[host] === now[host] || earlier[host] === '' || now[host] === '';
  return isSame('baseUrl') && isSame('lbBaseUrl');
}

/** Writes the notes about a run. Returns whether all were written; if not, a start with another folder is not warned. */
export async function noteRun(
  disk: Disk,
  stateFolder: string,
  run: ManifestOf & { readonly folder: string; readonly at: string },
): Promise<boolean> {
  const { sample = [], similar = [], sending = [], folder, manifest, at, baseUrl, lbBaseUrl } = run;
  const note = { folder, manifest, at, baseUrl, lbBaseUrl };
  const name = `${nameOf(note.folder)}.json`;
  const paths = [
    `${nameOf(dirname(note.manifest))}/${name}`,
    ...sample.map((hash) => `${hash}/${hostPart(note)}${name}`),
    ...similar.map((hash) => `${hash}/${uploadsPart(note)}${name}`),
    ...sending.map((hash) => `${hash}/${sendingPart(note)}${name}`),
  ];
  let areWritten = true;
  for (const path of paths.map((each) => notesAt(stateFolder, each))) {
    await disk.mkdir(dirname(path)).catch(() => undefined);
    if (!(await writeNote(disk, path, note))) areWritten = false;
  }
  return areWritten;
}

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
  { run, folder, bytes, ...from }: ManifestOf & RunAt & { readonly at: string },
  bought: BoughtHashes | undefined,
): Promise<boolean> {
  const { manifest, at, baseUrl, lbBaseUrl } = from;
  const path = boughtAt(stateFolder, folder);
  const before = await readBought(disk, path);
  const isSame = before?.run === run;
  const lists = {
    bought: bought !== undefined ? listsOf([bought]) : isSame ? before.bought : undefined,
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

/** The prefix of notes about rows: it names their host, so that few notes have to be read. */
function hostPart({ baseUrl, lbBaseUrl }: Hosts): string {
  const host = baseUrl || lbBaseUrl;
  return host === '' ? '' : `${nameOf(host).slice(0, 8)}-`;
}

/** The prefix of notes about requests that are sent. */
function sendingPart(hosts: Hosts): string {
  return `sends-${hostPart(hosts)}`;
}

/** The prefix of notes about requests with pictures that are uploaded. */
function uploadsPart(hosts: Hosts): string {
  return `uploads-${hostPart(hosts)}`;
}

/** @param name the hash of a manifest's folder or of a row, optionally with the name of a note in it */
function notesAt(stateFolder: string, name: string): string {
  return `${stateFolder}/manifests/${name}`;
}

function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
