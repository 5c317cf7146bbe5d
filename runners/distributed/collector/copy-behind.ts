import { isDeepStrictEqual } from 'node:util';
import { lastValueFrom, merge } from 'rxjs';
import type { Journal } from '../../batch/journal/journal.js';
import { readRecordsAfter, type StoredRecord } from '../table/records.js';
import type { RunDatabase } from '../table/run-database.js';

/** How far a folder's journal has the records of its run in a database. */
export interface Copied {
  /** All records up to this number are in it … */
  readonly collected: number;
  /** … among so many of its first records. */
  readonly among: number;
}

const pageRecords = 1_000;

/**
 * Appends the records of a database that the journal does not have. Records are copied word for word and in their order, so those
 * that were copied behind the noted position are recognised: the process may have died between copy and note.
 */
export async function copyBehind(
  database: RunDatabase,
  run: number,
  journal: Journal,
  { collected, among }: Copied,
): Promise<{ readonly copied: number; readonly collected: number }> {
  // A journal that is shorter than what was noted is another one: it is compared from its beginning.
  const isShort = journal.recovered.records < among;
  const behind = journal.records(isShort ? 0 : among)[Symbol.asyncIterator]();
  let position = isShort ? 0 : collected;
  let copied = 0;
  let isKnown = true;
  for (;;) {
    const page = await readRecordsAfter(database.pool, run, position, pageRecords);
    const fresh: StoredRecord[] = [];
    for (const stored of page) {
      isKnown &&= await hasNext(behind, stored);
      if (!isKnown) fresh.push(stored);
    }
    if (fresh.length > 0) await lastValueFrom(merge(...fresh.map(({ record }) => journal.append(record))));
    copied += fresh.length;
    position = page.at(-1)?.seq ?? position;
    if (page.length < pageRecords) return { copied, collected: position };
  }
}

/** Whether one of the journal's next records is this one. Records of the folder's own stand between the copies. */
async function hasNext(
  behind: AsyncIterator<Parameters<Journal['append']>[0]>,
  { record }: StoredRecord,
): Promise<boolean> {
  for (;;) {
    const next = await behind.next();
    if (next.done === true) return false;
    if (isDeepStrictEqual(next.value, record)) return true;
  }
}
