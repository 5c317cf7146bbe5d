import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { numberOr } from '../read/json-object.js';
import { readJsonl } from '../read/read-jsonl.js';
import { recordKind } from '../read/record-kind.js';
import type { RunStory } from './run-story.js';

/**
 * The row numbers that rows had in the run's first manifest, by id, for those that a later manifest (one of rejected
 * rows, say) sent again: there they are other numbers. Empty where every start had the same manifest.
 */
export async function originalRows(
  disk: Disk,
  folder: string,
  story: RunStory,
): Promise<ReadonlyMap<string, number>> {
  const [first] = story.starts;
  const rows = new Map<string, number>();
  if (first === undefined || story.starts.every(({ manifest }) => manifest === first.manifest)) return rows;
  const moved = new Set<string>();
  let manifest = first.manifest;
  for await (const { value } of sends(disk, folder)) {
    if (value['k'] === 'start') manifest = String(value['manifest']);
    else if (value['k'] === 'intent' && manifest !== first.manifest) moved.add(String(value['id']));
  }
  for await (const { value } of sends(disk, folder)) {
    const id = String(value['id']);
    if (value['k'] === 'intent' && moved.has(id) && !rows.has(id)) rows.set(id, numberOr(value['row'], 0));
  }
  return rows;
}

function sends(disk: Disk, folder: string): ReturnType<typeof readJsonl> {
  const wanted = (line: Buffer): boolean => ['intent', 'start', undefined].includes(recordKind(line));
  return readJsonl(disk, join(folder, 'journal.jsonl'), () => undefined, wanted);
}
