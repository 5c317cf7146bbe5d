import { createHash } from 'node:crypto';
import type { SchedulerLike } from 'rxjs';
import { appendAll, type Journal, type RowRecords } from '../../batch/journal/journal.js';
import { journalWithout } from '../../batch/journal/journal-error.js';
import { encodeRecord } from '../../batch/journal/line/record-line.js';
import type { JournalRecord, OutcomeRecord } from '../../batch/journal/record.js';
import { slackRows } from '../../batch/journal/repair-journal.js';
import { HashIndex } from '../../batch/journal/rows/hash-index.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import {
  completedRecord,
  isBookedPurchase,
  purchaseOfReply,
  savedOutputs,
} from '../../batch/row/records-of.js';
import { isEnd } from '../../batch/row/row-status.js';
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
 * journal has all records before the first one that is not found in it; behind that one it may have records, too, of a group that
 * a worker has written again in a database that was put back. The search starts at the noted position, because the
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
  const ends = new KnownEnds(journal, copying.scheduler, last.sent);
  let copied = 0;
  let { collected } = last;
  for await (const page of pagesBehind(copying, collected)) {
    const missing = page.filter(({ seq, record }) => seq >= (last.missing.get(record.id) ?? Infinity));
    await appendAll(journal, await ends.compare(missing));
    copied += missing.length;
    collected = page.at(-1)?.seq ?? collected;
  }
  await appendAll(journal, ends.records);
  const among = copied > 0 ? journal.recovered.records : last.among;
  return { collected, among, isOther: found === undefined, hasAppended: copied > 0 || isLost };
}

/**
 * What the journal knows of rows whose answers the database has lost: it ends their requests as unknown, and `records` make them
 * what they were.
 */
class KnownEnds {
  private readonly ends = new Map<string, readonly RowRecord[]>();
  private readonly begun = new Set<string>();

  /** @param sent the last missing intents of rows */
  constructor(
    private readonly journal: Journal,
    private readonly scheduler: SchedulerLike,
    private readonly sent: Found['sent'],
  ) {}

  get records(): RowRecord[] {
    return [...this.ends.values()].flat();
  }

  /** The page as it is copied: where it sends a row again whose end is known, that purchase is booked once. */
  async compare(page: readonly StoredRecord[]): Promise<RowRecord[]> {
    const copies: RowRecord[] = [];
    for (const { seq, record } of page) {
      const { id } = record;
      const isUnknown =
        record.k === 'outcome' && record.status === 'failed' && record.error.code === 'unknown';
      if (record.k === 'intent') {
        // What follows is about this request.
        this.begun.add(id);
        this.ends.delete(id);
      } else if (isUnknown && !this.begun.has(id))
        this.ends.set(id, await this.knownEnd(id, record.purchase?.attempt));
      else if (record.k === 'reopen' && record.to === 'buy') copies.push(...(await this.sentAgain(id, seq)));
      copies.push(record);
    }
    return copies;
  }

  /** The records before a reopening, behind which the row is bought, or `records` begin its purchase anew. */
  private async sentAgain(id: string, seq: number): Promise<readonly RowRecord[]> {
    const end = this.ends.get(id) ?? [];
    const [reopened] = end;
    const known = reopened && (await this.journal.find(id));
    if (reopened?.k !== 'reopen' || known?.intent === undefined) return [];
    if ((this.sent.get(id) ?? 0) > seq) return end.length > 1 ? end : replied(known, reopened);
    this.ends.set(id, [known.intent, ...answersOf(known, reopened.at)]);
    return [{ ...reopened, why: 'settle', to: 'buy' }];
  }

  private async knownEnd(id: string, attempt = 1): Promise<RowRecord[]> {
    const { status = 'open', outcome } = (await this.journal.find(id)) ?? {};
    const again = { k: 'reopen', at: this.scheduler.now(), id, voids: attempt } as const;
    if (status === 'accepted') return [{ ...again, why: 'retry', to: 'poll' }];
    if (status !== 'replied' && !isEnd(status)) return [];
    const reopened = { ...again, why: 'refetch', to: 'download' } as const;
    if (outcome === undefined || !isEnd(status)) return [reopened];
    const held = outcome.source === 'unknown' ? outcome.purchase?.attempt : undefined;
    const voided = [...new Set([attempt, held ?? attempt])];
    return [...voided.map((voids) => ({ ...reopened, voids })), repeated(outcome)];
  }
}

/** A row that was paid for and is bought again before its picture is saved: its purchase has ended. */
function replied({ intent, reply, ...known }: RowRecords, reopened: RowRecord): RowRecord[] {
  if (known.status !== 'replied' || intent === undefined || reply === undefined) return [];
  const isBooked = isBookedPurchase({ ...known, reply });
  const purchase = purchaseOfReply(intent, reply, { attempt: known.attempts, isBooked });
  return [reopened, completedRecord(reply, { at: reopened.at, ...savedOutputs(reply), ...purchase })];
}

/** What the journal knows behind the row's intent. */
function answersOf({ id, status, jobId, acceptedAt, reply, outcome }: RowRecords, at: number): RowRecord[] {
  const records: RowRecord[] =
    jobId === undefined ? [] : [{ k: 'accepted', at: acceptedAt ?? at, id, jobId }];
  if (reply !== undefined) records.push(reply);
  if (isEnd(status) && outcome !== undefined) records.push(repeated(outcome));
  return records;
}

/**
 * Its status calls are counted already. A purchase of a known cost keeps its line in costs.csv; the line of one whose cost is held
 * leaves with the reopening, and is written again.
 */
function repeated(outcome: OutcomeRecord): OutcomeRecord {
  const again = { ...outcome, statusCalls: 0 };
  if (outcome.source !== 'unknown') delete again.purchase;
  return again;
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
  /** By the ids of rows, the first record that the journal lacks: it lacks all further ones of the row, too. */
  readonly missing: ReadonlyMap<string, number>;
  /** By the ids of rows, the last intent that the journal lacks. */
  readonly sent: ReadonlyMap<string, number>;
}

const nothing: Found = { collected: 0, among: 0, lastRow: 0, missing: new Map(), sent: new Map() };

/**
 * The last record before the first one that has to be copied; `undefined` if the journal lacks the noted one. A record that was lost
 * from its middle is not copied behind later ones of its row.
 */
async function findLast(
  copying: Copying,
  journal: Journal,
  { collected, among }: Copied,
): Promise<Found | undefined> {
  const known = new HashIndex();
  for await (const record of journal.records(among)) known.add(hashOf(record));
  let last: Copied | undefined = collected === 0 ? nothing : undefined;
  let lastRow = 0;
  const missing = new Map<string, number>();
  const sent = new Map<string, number>();
  // Begins with the noted record.
  for await (const page of pagesBehind(copying, Math.max(collected - 1, 0)))
    for (const { seq, record } of page) {
      const place = known.find(hashOf(record));
      if (place >= 0) missing.delete(record.id);
      else if (last === undefined) return undefined;
      else if (!missing.has(record.id)) missing.set(record.id, seq);
      if (place >= 0) last = { collected: seq, among: among + place };
      if (record.k !== 'intent') continue;
      lastRow = Math.max(lastRow, record.row);
      if (place < 0) sent.set(record.id, seq);
    }
  if (last === undefined) return undefined;
  const first = [...missing.values()].reduce((least, seq) => Math.min(least, seq), Infinity);
  return { ...last, collected: Math.min(last.collected, first - 1), lastRow, missing, sent };
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
