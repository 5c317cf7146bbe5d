import { dirname } from 'node:path';
import type * as z from 'zod';
import { realPlace, type Disk } from '../disk/disk.js';
import { boughtThere, isSameService, nameOf, noteSchema, type Hosts, type NotedRun } from './bought-note.js';
import { readNote, usualFolders, writeNote } from './owner.js';

/** A manifest, and the hosts of its rows; an empty host matches any. */
export interface ManifestOf extends Hosts {
  /** Absolute path. */
  readonly manifest: string;
  /** The hashes of some of its rows, which a manifest with most of these rows has too: see `RowSample`. @defaultValue none */
  readonly sample?: readonly string[] | undefined;
  /** The hashes of some of its rows without their pictures, which are uploaded. @defaultValue none */
  readonly similar?: readonly string[] | undefined;
}

/** So many of the latest runs of a manifest, and of those that share rows, are always compared. */
const mostLatest = 10;

/**
 * The runs against these hosts that were started with this manifest, or with others in the same folder: exports of other days, copies,
 * a renamed manifest. Runs of exactly this manifest come first, and of these the latest ones. Rehearsals are not included.
 */
const runsOfManifest = (disk: Disk, of: ManifestOf) => runsUnder([nameOf(dirname(of.manifest))], disk, of);

/** The runs that share rows of the sample, wherever their manifests were: copies, or exports of another day. */
const runsOfRows = (disk: Disk, of: ManifestOf) => runsUnder(of.sample ?? [], disk, of, hostPart(of));

/** The runs that have uploaded pictures for the same requests: of other pictures, or of these under other names. */
const runsOfUploads = (disk: Disk, of: ManifestOf) => runsUnder(of.similar ?? [], disk, of, uploadsPart(of));

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
  disk: Disk,
  { manifest, ...hosts }: ManifestOf,
  start = '',
): Promise<readonly NotedRun[]> {
  const folders = usualFolders().flatMap((state) => names.map((name) => notesAt(state, name)));
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

/** Writes the notes about a run. Returns whether all were written; if not, a start with another folder is not warned. */
export async function noteRun(
  disk: Disk,
  stateFolder: string,
  run: ManifestOf & { readonly folder: string; readonly at: string },
): Promise<boolean> {
  const { sample = [], similar = [], folder, manifest, at, baseUrl, lbBaseUrl } = run;
  const note = { folder, manifest, at, baseUrl, lbBaseUrl };
  const name = `${nameOf(note.folder)}.json`;
  const paths = [
    `${nameOf(dirname(note.manifest))}/${name}`,
    ...sample.map((hash) => `${hash}/${hostPart(note)}${name}`),
    ...similar.map((hash) => `${hash}/${uploadsPart(note)}${name}`),
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

/** The prefix of notes about requests with pictures that are uploaded. */
function uploadsPart(hosts: Hosts): string {
  return `uploads-${hostPart(hosts)}`;
}

/** @param name the hash of a manifest's folder or of a row, optionally with the name of a note in it */
function notesAt(stateFolder: string, name: string): string {
  return `${stateFolder}/manifests/${name}`;
}
