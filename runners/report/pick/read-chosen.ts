import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { readCsv } from '../read/read-csv.js';
import { isObject } from '../read/json-object.js';
import { readJsonl } from '../read/read-jsonl.js';
import { safeImagePath } from '../rows/picture-facts.js';
import { earlierFile } from '../survey/survey-run.js';
import { plainCell } from './chosen-list.js';

/** A line of a list of kept pictures, and the picture of the run that it names. */
export interface ChosenPicture {
  readonly id: string;
  readonly cells: Readonly<Record<string, string>>;
  readonly row: number;
  /** Relative to the run's folder; `undefined`: the row has none that was saved. */
  readonly path?: string;
}

export interface ChosenPictures {
  readonly found: readonly ChosenPicture[];
  /** Ids of lines that name no result of the run. */
  readonly unknown: readonly string[];
}

interface Wanted {
  readonly id: string;
  readonly jobId: string;
  readonly cells: Readonly<Record<string, string>>;
  picture?: ChosenPicture;
}

/**
 * Reads a list of kept pictures against the results of a run. A line has an `id`; its `jobId`, where it has one, says which
 * version of a row that was bought again: an earlier picture stays the one that was kept.
 */
export async function readChosen(disk: Disk, folder: string, list: string): Promise<ChosenPictures> {
  const wanted: Wanted[] = [];
  const byId = new Map<string, Wanted[]>();
  for await (const { cells } of readCsv(disk, list)) {
    const id = plainCell(cells['id'] ?? '');
    if (id === '') continue;
    const one: Wanted = { id, jobId: plainCell(cells['jobId'] ?? ''), cells };
    wanted.push(one);
    byId.set(id, [...(byId.get(id) ?? []), one]);
  }
  for (const name of [earlierFile, 'results.jsonl']) {
    for await (const { value } of readJsonl(disk, join(folder, name), () => undefined)) {
      const { id, row, jobId, image } = value;
      for (const one of typeof id === 'string' ? (byId.get(id) ?? []) : []) {
        // Without a job, a line means the present picture of its row.
        if (one.jobId === '' ? name === earlierFile : one.jobId !== jobId) continue;
        const path = isObject(image) ? safeImagePath(image['path']) : undefined;
        one.picture = { id: one.id, cells: one.cells, row: Number(row), ...(path !== undefined && { path }) };
      }
    }
  }
  return {
    found: wanted.flatMap(({ picture }) => picture ?? []),
    unknown: wanted.flatMap(({ id, picture }) => (picture === undefined ? [id] : [])),
  };
}
