import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import * as z from 'zod';
import type { Disk } from '../disk/disk.js';
import { readNote, usualFolders, writeNote } from './owner.js';

/** A run that was started with a manifest. Its note stands under the folder that the manifest lies in, in the user's state folder. */
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
  { manifest, ...hosts }: ManifestOf,
  stateFolders: readonly string[] = usualFolders(),
): Promise<readonly NotedRun[]> {
  const notes: z.infer<typeof noteSchema>[] = [];
  for (const state of stateFolders) {
    const folder = notesOf(state, manifest);
    for (const name of await disk.list(folder).catch((): string[] => [])) {
      const note = await readNote(disk, `${folder}/${name}`, noteSchema).catch(() => undefined);
      if (note !== undefined && isSameService(note, hosts)) notes.push(note);
    }
  }
  const isOther = (note: { readonly manifest: string }) => Number(note.manifest !== manifest);
  const last = notes.sort((one, other) => isOther(one) - isOther(other) || other.at.localeCompare(one.at));
  const folders = new Set<string>();
  return last.filter(({ folder }) => !folders.has(folder) && folders.add(folder)).slice(0, mostRuns);
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
  note: ManifestOf & { readonly folder: string; readonly at: string },
): Promise<void> {
  const folder = notesOf(stateFolder, note.manifest);
  await disk.mkdir(folder).catch(() => undefined);
  await writeNote(disk, `${folder}/${nameOf(note.folder)}.json`, note);
}

function notesOf(stateFolder: string, manifest: string): string {
  return `${stateFolder}/manifests/${nameOf(dirname(manifest))}`;
}

function nameOf(path: string): string {
  return createHash('sha256').update(path).digest('hex').slice(0, 32);
}
