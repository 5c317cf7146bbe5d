import { toUsd, isBelievable } from '../../../src/contract/micro-dollars.js';
import type { DiskFile } from '../disk/disk.js';
import { readAll } from '../disk/read-file.js';
import type { PendingRow, RowRecords } from './journal.js';
import { decodeRecord } from './line/record-line.js';
import {
  isCostByHand,
  type IntentRecord,
  type OutcomeRecord,
  type RecordOf,
  type ReplyRecord,
  type JournalRecord,
} from './record.js';
import type { RecoveredFile } from './recover.js';
import { isPending, type RowStatus } from '../row/row-status.js';
import type { RowTable } from './rows/row-table.js';

type Kind = 'intent' | 'accepted' | 'reply' | 'outcome';

/** Reads the last records of rows from their positions in the file. */
export class RowReader {
  private readonly table: RowTable;
  /** One window for each kind: the intents of consecutive rows are in order in the file, their outcomes nearly so. */
  private readonly windows: Readonly<Record<Kind, RecordWindow>>;

  /** @param windowBytes Small to look up one row, large to read many. */
  constructor(
    file: Pick<DiskFile, 'read'>,
    private readonly found: RecoveredFile,
    windowBytes: number,
  ) {
    this.table = found.recovery.table;
    const make = (): RecordWindow => new RecordWindow(file, found.goodEnd, windowBytes);
    this.windows = { intent: make(), accepted: make(), reply: make(), outcome: make() };
  }

  async read(row: number): Promise<RowRecords> {
    const intent = await this.record(row, 'intent');
    const accepted = await this.record(row, 'accepted');
    const reply = believed(await this.record(row, 'reply'), intent);
    const outcome = believed(await this.record(row, 'outcome'), intent);
    const failedJob = outcome?.status === 'failed' ? outcome.jobId : undefined;
    const jobId = accepted?.jobId ?? reply?.jobId ?? failedJob ?? intent?.jobId;
    return {
      id: (intent ?? outcome ?? accepted ?? reply)?.id ?? '',
      status: this.found.recovery.lives.statusAt(row),
      attempts: this.table.attempts(row),
      ...(intent && { intent }),
      ...(jobId !== undefined && { jobId }),
      ...(accepted && { acceptedAt: accepted.at }),
      ...(reply && { reply }),
      ...(outcome && { outcome }),
    };
  }

  /** All rows in one of these states, in the order in which they first appeared. */
  async *rowsIn(statuses: readonly RowStatus[]): AsyncGenerator<RowRecords, void, void> {
    for (let row = 0; row < this.table.ids.length; row++) {
      if (statuses.includes(this.found.recovery.lives.statusAt(row))) yield await this.read(row);
    }
  }

  /**
   * The rows that have not ended. Accepted rows come first, with the oldest at the front, because the service keeps
   * results only for a while.
   */
  async pending(): Promise<Map<string, PendingRow>> {
    const pending: PendingRow[] = [];
    for (let row = 0; row < this.table.ids.length; row++) {
      if (!isPending(this.found.recovery.lives.statusAt(row))) continue;
      pending.push({
        ...((await this.read(row)) as PendingRow),
        price: this.found.recovery.lives.priceAt(row),
      });
    }
    pending.sort((a, b) => urgency(a) - urgency(b) || waitingSince(a) - waitingSince(b));
    return new Map(pending.map((row) => [row.id, row]));
  }

  private async record<K extends Kind>(row: number, kind: K): Promise<RecordOf<K> | undefined> {
    const place = this.table[`${kind}At`].get(row);
    return place === 0 ? undefined : ((await this.windows[kind].recordAt(place - 1)) as RecordOf<K>);
  }
}

/** Version 0.1.0 wrote unbelievable costs as they were reported: they are replaced by the reserved price, as in the tally. */
function believed<R extends ReplyRecord | OutcomeRecord>(
  record: R | undefined,
  intent: IntentRecord | undefined,
): R | undefined {
  if (record?.cost == null || record.source === 'none' || record.source === 'unknown') return record;
  const isByHand = record.k === 'outcome' && record.status === 'failed' && isCostByHand(record.error.code);
  const price = intent?.price ?? null;
  if (isBelievable(record.cost, record.source === 'reported' && !isByHand ? price : null)) return record;
  return { ...record, cost: price, source: 'estimated', disbelieved: String(toUsd(record.cost)) };
}

function urgency({ status }: PendingRow): number {
  return { accepted: 0, replied: 1, sent: 2 }[status];
}

function waitingSince({ acceptedAt, intent }: PendingRow): number {
  return acceptedAt ?? intent.at;
}

const newline = 0x0a;

/**
 * A part of the file in memory, for reading records by their positions. Positions mostly ascend, so the next record is
 * mostly in memory already.
 */
export class RecordWindow {
  private buffer = Buffer.alloc(0);
  /** Where the window begins in the file, and how many of its bytes are filled. */
  private start = 0;
  private filled = 0;

  /**
   * @param to Where the last good record ends.
   * @param bytes How many bytes are read at a time; a longer record takes more.
   */
  constructor(
    private readonly file: Pick<DiskFile, 'read'>,
    private readonly to: number,
    private readonly bytes: number,
  ) {}

  async recordAt(offset: number): Promise<JournalRecord> {
    for (let bytes = this.bytes; ; bytes *= 2) {
      const from = offset - this.start;
      const isInside = from >= 0 && from < this.filled;
      const end = isInside ? this.buffer.subarray(0, this.filled).indexOf(newline, from) : -1;
      const isLast = this.start + this.filled >= this.to;
      if (isInside && (end >= 0 || isLast))
        return decodeRecord(this.buffer.subarray(from, end < 0 ? this.filled : end)).record;
      await this.fill(offset, bytes);
    }
  }

  private async fill(offset: number, bytes: number): Promise<void> {
    const size = Math.min(bytes, this.to - offset);
    if (this.buffer.length < size) this.buffer = Buffer.allocUnsafeSlow(size);
    this.start = offset;
    this.filled = 0;
    await readAll(this.file, this.buffer.subarray(0, size), offset);
    this.filled = size;
  }
}
