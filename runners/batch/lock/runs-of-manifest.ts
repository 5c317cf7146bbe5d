import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { Disk } from '../disk/disk.js';
import { readNote, usualFolders, writeNote } from './owner.js';

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
  /** The hashes of some requests that a start is about to send. @defaultValue none */
  readonly sending?: readonly string[] | undefined;
}

/** Where the notes are. */
export interface NotePlace {
  readonly disk: Disk;
  /** @defaultValue the user's state folder, then the folder for temporary files */
  readonly stateFolders?: readonly string[] | undefined;
}

/** At most this many runs of a manifest are considered. */
const mostRuns = 10;

/**
 * The folders of runs against these hosts that were started with this manifest, or with others in the same folder: exports of
 * other days, copies, a renamed manifest. Runs of exactly this manifest come first, and of these the latest ones. Rehearsals
 * are not included.
 */
export async function runsOfManifest(disk: Disk, of: ManifestOf): Promise<readonly NotedRun[]> {
  return runsUnder([nameOf(dirname(of.manifest))], { disk }, of);
}

/** The runs that share rows of the sample, wherever their manifests were: copies, or exports of another day. */
export async function runsOfRows(disk: Disk, of: ManifestOf): Promise<readonly NotedRun[]> {
  return runsUnder(of.sample ?? [], { disk }, of, hostPart(of));
}

/** The runs with a start that was about to send these requests, even if they have ended since. */
export async function runsSending(
  { disk, stateFolders }: NotePlace,
  of: ManifestOf,
): Promise<readonly NotedRun[]> {
  return runsUnder(of.sending ?? [], { disk, stateFolders }, of, sendingPart(of));
}

/** Whether there is any run that may have bought the manifest's requests. */
export async function isAnyRunOf(disk: Disk, of: ManifestOf): Promise<boolean> {
  return (await runsOfManifest(disk, of)).length > 0 || (await runsOfRows(disk, of)).length > 0;
}

/** @param start the prefix of the notes' names to read */
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
  return last.filter(({ folder }) => !seen.has(folder) && seen.add(folder)).slice(0, mostRuns);
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
  { sample = [], sending = [], ...note }: ManifestOf & { readonly folder: string; readonly at: string },
): Promise<boolean> {
  const name = `${nameOf(note.folder)}.json`;
  const paths = [
    `${nameOf(dirname(note.manifest))}/${name}`,
    ...sample.map((hash) => `${hash}/${hostPart(note)}${name}`),
    ...sending.map((hash) => `${hash}/${sendingPart(note)}${name}`),
  ];
  let areWritten = true;
  for (const path of paths.map((each) => notesAt(stateFolder, each))) {
    await disk.mkdir(dirname(path)).catch(() => undefined);
    if (!(await writeNote(disk, path, note))) areWritten = false;
  }
  return areWritten;
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

/** @param name the hash of a manifest's folder or of a row, optionally with the name of a note in it */
function notesAt(stateFolder: string, name: string): string {
  return `${stateFolder}/manifests/${name}`;
}

function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
