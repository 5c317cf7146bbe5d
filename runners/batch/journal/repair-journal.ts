import { crc32 } from 'node:zlib';
import type { Disk, DiskFile } from '../disk/disk.js';
import { replaceFile } from '../disk/replace-file.js';
import { fileChunks, withFile, readLines } from '../disk/read-file.js';
import {
  decodeRecord,
  hasGoodChecksum,
  checksumBytes,
  checksumText,
  encodeRecord,
  salvage,
  field,
} from './line/record-line.js';
import { HeadScanner } from './line/head-scanner.js';
import type { IntentRecord, JournalRecord, RecordOf, ReplyRecord } from './record.js';
import { RowTable } from './rows/row-table.js';
import { ScannedHead } from './rows/scanned-head.js';
import { isEnd, statusBytes, statusOf, type EndStatus } from '../row/row-status.js';

/** Rows are sent roughly in order: this many rows after the last known one may have been sent as well. */
export const slackRows = 1_000;
/** No record is shorter than this. */
const leastRecordBytes = 40;

/** The same number for a journal that has lost this many bytes. */
export function slackOf(lostBytes: number): number {
  return Math.max(slackRows, Math.ceil(lostBytes / leastRecordBytes));
}

/**
 * Keeps every record that can be read, renumbers them, and adds a `repaired` record at the end. The damaged file is
 * kept beside it as `journal.jsonl.broken-1` (2, 3 …).
 */
export async function repairJournal(disk: Disk, path: string, now: () => number): Promise<void> {
  await keepCopy(disk, path);
  await withFile(disk, path, (file) => replaceFile(disk, path, repaired(file, now)));
}

async function keepCopy(disk: Disk, path: string): Promise<void> {
  let n = 1;
  while ((await disk.stat(`${path}.broken-${n}`)) !== undefined) n++;
  await withFile(disk, path, (file) => replaceFile(disk, `${path}.broken-${n}`, fileChunks(file)));
}

async function* repaired(file: DiskFile, now: () => number): AsyncGenerator<Uint8Array, void, void> {
  const survey = new Survey();
  for await (const { bytes, ended } of readLines(file)) {
    const isWhole = hasGoodChecksum(bytes, 0, bytes.length);
    const found = isWhole ? [{ start: 0, end: bytes.length }] : [...salvage(bytes)];
    // Final bytes without a newline and without a whole record were just being written, so nothing is lost with them.
    if (ended || found.length > 0) survey.badBytes += bytes.length;
    for (const { start, end } of found) {
      survey.badBytes -= end - start;
      if (!survey.see(bytes, start, end)) continue;
      const reopening = survey.lostReopening();
      if (reopening !== undefined) yield encodeRecord(++survey.kept, reopening);
      yield numbered(bytes.subarray(start, end), ++survey.kept);
    }
  }
  yield encodeRecord(survey.kept + 1, { k: 'repaired', at: now(), ...survey.loss() });
}

/** Records what was found, and what must be missing. */
class Survey {
  kept = 0;
  badBytes = 0;
  private readonly head = new HeadScanner();
  private readonly rows = new RowTable();
  private lastNumber = 0;
  private gaps = 0;
  private lastRow = 0;
  private picked = false;

  /** Returns whether the bytes are a record, which is then kept. */
  see(bytes: Buffer, start: number, end: number): boolean {
    if (!this.head.scan(bytes, start, end)) return false;
    const n = this.head.number(field.n);
    if (n !== this.lastNumber + 1) this.gaps += Math.max(n - this.lastNumber - 1, 1);
    this.lastNumber = n;
    this.lastRow = Math.max(this.lastRow, this.head.number(field.row) || 0);
    this.picked ||= this.head.word(field.k) === 'start' && pickedByName(bytes.subarray(start, end));
    return true;
  }

  /**
   * The lost `reopen` record between the row's end and the record seen last. A row that has ended can only continue after such
   * a record; without it the row would have two lines.
   */
  lostReopening(): JournalRecord | undefined {
    const { head, rows } = this;
    if (!head.hasId) return undefined;
    const record = new ScannedHead();
    const kind = record.read(head.kind, head);
    const row = rows.ids.add(head.id);
    const ended = statusOf(rows.status.get(row));
    if (kind === 'outcome') rows.status.set(row, statusBytes[record.end]);
    if (kind === 'reopen') rows.status.set(row, statusBytes.open);
    const goesOn = kind === 'intent' || kind === 'reply' || kind === 'outcome';
    if (!goesOn || !isEnd(ended)) return undefined;
    if (kind !== 'outcome') rows.status.set(row, statusBytes.open);
    const { at, id } = decodeRecord(head.line).record as RecordOf<'reopen'>;
    return { k: 'reopen', at, id, ...reopeningOf(kind, ended) };
  }

  loss(): { missing: number; heldUpToRow: number } {
    const missing = Math.max(this.gaps, this.badBytes >= leastRecordBytes ? 1 : 0);
    if (missing === 0) return { missing, heldUpToRow: 0 };
    const slack = Math.max(slackOf(this.badBytes), this.gaps);
    // Rows that were selected with `only` are sent in no fixed order: any row may have been sent.
    return { missing, heldUpToRow: this.picked ? Number.MAX_SAFE_INTEGER : this.lastRow + slack };
  }
}

function reopeningOf(
  kind: 'intent' | 'reply' | 'outcome',
  ended: EndStatus,
): Pick<RecordOf<'reopen'>, 'why' | 'to'> {
  const isBought = kind === 'intent' || (kind === 'reply' && ended === 'completed');
  if (ended === 'completed')
    return isBought ? { why: 'redo', to: 'buy' } : { why: 'refetch', to: 'download' };
  if (isBought) return { why: 'retry', to: 'buy' };
  return { why: 'retry', to: ended === 'download' ? 'download' : 'poll' };
}

function pickedByName(line: Buffer): boolean {
  const { record } = decodeRecord(line);
  return record.k === 'start' && record.settings['only'] !== undefined;
}

/** The records that a repaired journal has lost of a purchase whose end it has. */
export interface LostRecords {
  readonly attempt: number;
  intent?: IntentRecord | undefined;
  reply?: ReplyRecord | undefined;
}

/** The lines of a journal with these lost records inserted, by row: each before the records that followed from it. */
export async function* withLost(
  records: AsyncIterable<JournalRecord>,
  lost: ReadonlyMap<string, LostRecords>,
): AsyncGenerator<Uint8Array, void, void> {
  /** The attempt of the purchase that is being read, by row. */
  const attempts = new Map<LostRecords, number>();
  let n = 0;
  for await (const record of records) {
    const row = 'id' in record ? lost.get(record.id) : undefined;
    if (row !== undefined) {
      const { intent, reply, attempt } = row;
      if (intent !== undefined) yield encodeRecord(++n, intent);
      row.intent = undefined;
      if (record.k === 'intent') attempts.set(row, record.attempt);
      if (record.k === 'outcome' && reply !== undefined && (attempts.get(row) ?? attempt) === attempt) {
        yield encodeRecord(++n, reply);
        row.reply = undefined;
      }
    }
    yield encodeRecord(++n, record);
  }
}

/** The record with another number, so that the numbers have no gaps. */
function numbered(record: Buffer, n: number): Buffer {
  const body = record.subarray(record.indexOf(','), record.length - checksumBytes);
  const bytes = Buffer.concat([Buffer.from(`{"n":${n}`), body]);
  return Buffer.concat([bytes, Buffer.from(`,"c":"${checksumText(crc32(bytes))}"}\n`)]);
}
