import { basename, join, parse } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { replaceFile } from '../../batch/disk/replace-file.js';
import { unescapeFormula } from '../../batch/manifest/columns/formula-text.js';
import { readWhole } from '../rows/run-pictures.js';
import { chosenAxes, chosenColumns, chosenList, type ChosenRow } from './chosen-list.js';
import { readCsv } from '../read/read-csv.js';

import { readJsonl } from '../read/read-jsonl.js';
import { savedPath } from '../rows/picture-facts.js';
import { earlierFile } from '../survey/survey-run.js';

/** The result of `pick`. Names are those in the folder of copies. */
export interface Picked {
  readonly copied: readonly string[];
  /** Copies of an earlier call, with the same bytes. */
  readonly present: readonly string[];
  /** Ids of rows whose picture is not on this disk. */
  readonly missing: readonly string[];
  /** The list, written beside the copies. */
  readonly list: string;
  readonly others: number;
}

/**
 * Copies the pictures of a list into a new folder, with a list beside them. A file there with other bytes stays, and
 * the copy gets the next free name: `mug-2.png`.
 */
export async function pickPictures(
  disk: Disk,
  folder: string,
  { found }: Pick<ChosenPictures, 'found'>,
  to: string,
): Promise<Picked> {
  await disk.mkdir(to);
  const [copied, present, missing]: string[][] = [[], [], []];
  const rows: ChosenRow[] = [];
  for (const { id, row, path, cells } of found) {
    const bytes = path === undefined ? undefined : await readWhole(disk, join(folder, path));
    if (path === undefined || bytes === undefined) {
      missing?.push(id);
      continue;
    }
    const isSame = (there: Uint8Array): boolean => Buffer.compare(there, bytes) === 0;
    const { name, isThere } = await placeFor(disk, to, basename(path), isSame);
    if (!isThere) await replaceFile(disk, join(to, name), bytes);
    (isThere ? present : copied)?.push(name);
    rows.push({ ...textsOf(cells), axes: chosenAxes(cells), id, row, file: name });
  }
  const list = await writeList(disk, to, rows);
  const names = new Set([...(copied ?? []), ...(present ?? []), list]);
  const others = (await disk.list(to)).filter((name) => !names.has(name)).length;
  return { copied: copied ?? [], present: present ?? [], missing: missing ?? [], list, others };
}

function textsOf(cells: Readonly<Record<string, string>>): Partial<ChosenRow> {
  const texts = ['stars', 'note', 'prompt', 'jobId'].map((name) => [
    name,
    unescapeFormula(cells[name] ?? ''),
  ]);
  return Object.fromEntries(texts) as Partial<ChosenRow>;
}

/** A list of an earlier call is replaced; another file of that name stays. */
async function writeList(disk: Disk, to: string, rows: readonly ChosenRow[]): Promise<string> {
  const head = chosenColumns.join(',');
  const isOurs = (there: Uint8Array): boolean =>
    Buffer.from(there.subarray(0, head.length)).toString('latin1') === head;
  const { name } = await placeFor(disk, to, 'chosen.csv', isOurs);
  await replaceFile(disk, join(to, name), chosenList(rows));
  return name;
}

/** The first of `mug.png`, `mug-2.png` … that is free or already has these bytes. */
async function placeFor(
  disk: Disk,
  to: string,
  wanted: string,
  belongs: (there: Uint8Array) => boolean,
): Promise<{ name: string; isThere: boolean }> {
  const { name: stem, ext } = parse(wanted);
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${stem}-${number}${ext}`;
    if ((await disk.stat(join(to, name))) === undefined) return { name, isThere: false };
    const there = await readWhole(disk, join(to, name));
    if (there !== undefined && belongs(there)) return { name, isThere: true };
  }
}

/** A line of a list of kept pictures, and the picture of the run that it names. */
interface ChosenPicture {
  readonly id: string;
  readonly cells: Readonly<Record<string, string>>;
  readonly row: number;
  /** Relative to the run's folder; `undefined` if the row has no saved picture. */
  readonly path?: string;
}

export interface ChosenPictures {
  readonly found: readonly ChosenPicture[];
  /** Ids of lines that match no result of the run. */
  readonly unknown: readonly string[];
}

interface Wanted {
  readonly id: string;
  readonly jobId: string;
  readonly cells: Readonly<Record<string, string>>;
  picture?: ChosenPicture;
}

/**
 * Matches a list of kept pictures with the results of a run. A line has an `id`; an optional `jobId` chooses the
 * version of a row that was bought again, so that an earlier picture can be the kept one.
 */
export async function readChosen(disk: Disk, folder: string, list: string): Promise<ChosenPictures> {
  const wanted: Wanted[] = [];
  const byId = new Map<string, Wanted[]>();
  for await (const { cells } of readCsv(disk, list)) {
    const id = unescapeFormula(cells['id'] ?? '');
    if (id === '') continue;
    const one: Wanted = { id, jobId: unescapeFormula(cells['jobId'] ?? ''), cells };
    wanted.push(one);
    byId.set(id, [...(byId.get(id) ?? []), one]);
  }
  for (const name of [earlierFile, 'results.jsonl']) {
    for await (const { id, row, jobId, image } of readJsonl(disk, join(folder, name))) {
      for (const one of typeof id === 'string' ? (byId.get(id) ?? []) : []) {
        // Without a job, a line means the current picture of its row.
        if (one.jobId === '' ? name === earlierFile : one.jobId !== jobId) continue;
        const path = savedPath(image);
        one.picture = { id: one.id, cells: one.cells, row: Number(row), ...(path !== undefined && { path }) };
      }
    }
  }
  return {
    found: wanted.flatMap(({ picture }) => picture ?? []),
    unknown: wanted.flatMap(({ id, picture }) => (picture === undefined ? [id] : [])),
  };
}
