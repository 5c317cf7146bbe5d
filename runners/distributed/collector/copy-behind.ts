import { createHash } from 'node:crypto';
import type { SchedulerLike } from 'rxjs';
import { appendAll, type Journal } from '../../batch/journal/journal.js';
import { journalWithout } from '../../batch/journal/journal-error.js';
import { encodeRecord } from '../../batch/journal/line/record-line.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import { slackRows } from '../../batch/journal/repair-journal.js';
import { HashIndex } from '../../batch/journal/rows/hash-index.js';
import { readRecordsAfter, type StoredRecord } from '../table/records.js';
import type { RunDatabase } from '../table/run-ledger.js';
import type { RunNote } from './run-note.js';

/** How far the journal of a folder has the records of a database. */
export interface Copied {
  /** All records of the database up to this number are in the journal … */
  readonly collected: number;
  /** … and the last of them comes after this many of the journal's records. */
  readonly among: number;
}

interface Copying {
  readonly out: string;
  readonly database: Pick<RunDatabase, 'pool'>;
  readonly run: number;
  readonly scheduler: SchedulerLike;
  /** Repairs a journal that has lost records. */
  readonly repair: boolean;
}

const pageRecords = 1_000;

/**
 * Appends the records of a database that the journal does not have. They are copied word for word and in order, so the
 * journal has all records up to the last one that is found in it. The search starts at the noted position, because the
 * process may have died between copying and noting. With `isOther`, the positions of the journal's records have changed; with
 * `hasAppended` the journal has to be opened again, because it has records that it did not have when it was opened.
 *
 * @throws {JournalError} `journal-broken` if it lacks records that it had, and `repair` is false
 */
export async function copyBehind(
  copying: Copying,
  journal: Journal,
  noted: Copied & Pick<RunNote, 'fedUpToRow'>,
): Promise<Copied & { readonly isOther: boolean; readonly hasAppended: boolean }> {
  const found = await findLast(copying, journal, noted);
  const last = found ?? (await findLast(copying, journal, nothing)) ?? nothing;
  const isLost = last.collected < noted.collected;
  if (isLost) await noteLost(copying, journal, noted, last);
  let copied = 0;
  let { collected } = last;
  for await (const page of pagesBehind(copying, collected)) {
    await appendAll(
      journal,
      page.map(({ record }) => record),
    );
    copied += page.length;
    collected = page.at(-1)?.seq ?? collected;
  }
  const among = copied > 0 ? journal.recovered.records : last.among;
  return { collected, among, isOther: found === undefined, hasAppended: copied > 0 || isLost };
}

/** Holds rows that a start without the database may have sent, because its records may have been lost too. */
async function noteLost(
  { out, repair, scheduler }: Copying,
  journal: Journal,
  { collected: had, fedUpToRow }: Copied & Pick<RunNote, 'fedUpToRow'>,
  { collected: has, lastRow }: Found,
): Promise<void> {
  const why = `distributed.json says that it had the first ${had} records of the database, and it has ${has} of them that the database has too (was that put back to an earlier state?)`;
  if (!repair) throw journalWithout(out, why);
  const known = Math.max(journal.recovered.lastRow, lastRow);
  const heldUpToRow = Math.max(known + slackRows, fedUpToRow);
  const repaired = { k: 'repaired', at: scheduler.now(), missing: had - has, heldUpToRow } as const;
  await appendAll(journal, [repaired]);
}

/** Holds the rows that workers may have sent, because the database is lost, with their records. */
export async function holdFed(journal: Journal, { fedUpToRow }: RunNote, at: number): Promise<void> {
  const { lastRow } = journal.recovered;
  // Notes of older versions do not say how many rows were fed.
  const heldUpToRow = fedUpToRow > 0 ? Math.max(fedUpToRow, lastRow) : lastRow + slackRows;
  await appendAll(journal, [{ k: 'repaired', at, missing: 1, heldUpToRow }]);
}

interface Found extends Copied {
  /** The largest row number in the records that were read. */
  readonly lastRow: number;
}

const nothing: Found = { collected: 0, among: 0, lastRow: 0 };

/** The last record of the database that the journal has; `undefined` if the journal lacks the noted one. */
async function findLast(
  copying: Copying,
  journal: Journal,
  { collected, among }: Copied,
): Promise<Found | undefined> {
  const known = new HashIndex();
  for await (const record of journal.records(among)) known.add(hashOf(record));
  let last: Copied | undefined = collected === 0 ? nothing : undefined;
  let lastRow = 0;
  // Begins with the noted record.
  for await (const page of pagesBehind(copying, Math.max(collected - 1, 0)))
    for (const { seq, record } of page) {
      const place = known.find(hashOf(record));
      if (place >= 0) last = { collected: seq, among: among + place };
      else if (last === undefined) return undefined;
      if (record.k === 'intent') lastRow = Math.max(lastRow, record.row);
    }
  return last && { ...last, lastRow };
}

async function* pagesBehind({ database, run }: Copying, after: number): AsyncGenerator<StoredRecord[]> {
  for (let position = after; ;) {
    const page = await readRecordsAfter(database.pool, run, position, pageRecords);
    if (page.length === 0) return;
    yield page;
    position = page.at(-1)?.seq ?? position;
  }
}

/** A hash of the record's content, independent of its position. */
function hashOf(record: JournalRecord): { high: number; low: number } {
  const digest = createHash('sha256').update(encodeRecord(0, record)).digest();
  return { high: digest.readUInt32LE(0), low: digest.readUInt32LE(4) };
}
