import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { Disk } from '../disk/disk.js';
import { readNote, usualFolders, writeNote } from './owner.js';

/**
 * A run that was started with a manifest. Its note stands in the user's state folder, under the folder that the manifest lies in, and
 * under some of its rows.
 */
const noteSchema = z.object({
  folder: z.string(),
  manifest: z.string(),
  /** ISO time of its last start. */
  at: z.string(),
  /** Hosts of the service; empty where the run had none. */
  baseUrl: z.string(),
  lbBaseUrl: z.string(),
});

export type NotedRun = Pick<z.infer<typeof noteSchema>, 'folder' | 'manifest'>;

type Hosts = Pick<z.infer<typeof noteSchema>, 'baseUrl' | 'lbBaseUrl'>;

/** A manifest, and the hosts that its rows go to; one that is empty may be any. */
export interface ManifestOf extends Hosts {
  /** Absolute path. */
  readonly manifest: string;
  /** The hashes of some of its rows, which a manifest with most of these rows has too: see `RowSample`. @defaultValue none */
  readonly sample?: readonly string[] | undefined;
  /** The hashes of some requests that a start is about to send. @defaultValue none */
  readonly sending?: readonly string[] | undefined;
}

/** So many runs of a manifest are looked at. */
const mostRuns = 10;

/**
 * The folders of runs that were started against these hosts with this manifest, or with others of the same folder: exports of
 * other days, copies, a manifest that was given another name. Runs of this very manifest come first, and of each the one that
 * was started last. Rehearsals are not among them.
 */
export async function runsOfManifest(
  disk: Disk,
  of: ManifestOf,
  stateFolders?: readonly string[],
): Promise<readonly NotedRun[]> {
  return runsUnder([nameOf(dirname(of.manifest))], { disk, stateFolders }, of);
}

/** The same by the rows of the sample, wherever the manifest lay that they stood in: a copy, or another day's export. */
export async function runsOfRows(
  disk: Disk,
  of: ManifestOf,
  stateFolders?: readonly string[],
): Promise<readonly NotedRun[]> {
  return runsUnder(of.sample ?? [], { disk, stateFolders }, of, hostPart(of));
}

/** The runs of which a start was about to send these requests, whatever has become of them since. */
export async function runsSending(
  disk: Disk,
  of: ManifestOf,
  stateFolders?: readonly string[],
): Promise<readonly NotedRun[]> {
  return runsUnder(of.sending ?? [], { disk, stateFolders }, of, sendingPart(of));
}

/** Whether there is any of both: another run may have bought what the manifest asks for. */
export async function isAnyRunOf(disk: Disk, of: ManifestOf): Promise<boolean> {
  return (await runsOfManifest(disk, of)).length > 0 || (await runsOfRows(disk, of)).length > 0;
}

/** @param start of the names of the notes that are read */
async function runsUnder(
  names: readonly string[],
  {
    disk,
    stateFolders = usualFolders(),
  }: { readonly disk: Disk; stateFolders?: readonly string[] | undefined },
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

/** Notes such a run. Where it cannot be written, a start with another folder is not warned. */
export async function noteRun(
  disk: Disk,
  stateFolder: string,
  { sample = [], sending = [], ...note }: ManifestOf & { readonly folder: string; readonly at: string },
): Promise<void> {
  const name = `${nameOf(note.folder)}.json`;
  const paths = [
    `${nameOf(dirname(note.manifest))}/${name}`,
    ...sample.map((hash) => `${hash}/${hostPart(note)}${name}`),
    ...sending.map((hash) => `${hash}/${sendingPart(note)}${name}`),
  ];
  for (const path of paths.map((each) => notesAt(stateFolder, each))) {
    await disk.mkdir(dirname(path)).catch(() => undefined);
    await writeNote(disk, path, note);
  }
}

/** What the names of notes about rows begin with: the host that these go to, of which few notes may be read. */
function hostPart({ baseUrl, lbBaseUrl }: Hosts): string {
  const host = baseUrl || lbBaseUrl;
  return host === '' ? '' : `${nameOf(host).slice(0, 8)}-`;
}

/** The same of notes about requests that are sent. */
function sendingPart(hosts: Hosts): string {
  return `sends-${hostPart(hosts)}`;
}

/** @param name of the folder of a manifest, or the hash of a row, and maybe of a note there */
function notesAt(stateFolder: string, name: string): string {
  return `${stateFolder}/manifests/${name}`;
}

function nameOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
