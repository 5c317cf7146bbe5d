import type { DiskFile } from '../disk/disk.js';
import { readLines } from '../disk/read-lines.js';
import { decodeRecord } from './line/decode-record.js';
import type { PendingRow, RowRecords } from './journal.js';
import type { JournalRecord, RecordOf } from './record.js';
import type { RecoveredFile } from './recover.js';
import type { Recovery } from './recovery.js';
import { bookings } from './rows/tally.js';

const recordChunkBytes = 16 << 10;

/** The last records of the row with this index, each read from its place in the file. */
export async function readRow(
  file: DiskFile,
  { recovery, goodEnd }: RecoveredFile,
  row: number,
): Promise<RowRecords> {
  const { table } = recovery;
  const intent = await readAt<'intent'>(file, table.intentAt.get(row), goodEnd);
  const accepted = await readAt<'accepted'>(file, table.acceptedAt.get(row), goodEnd);
  const reply = await readAt<'reply'>(file, table.replyAt.get(row), goodEnd);
  const outcome = await readAt<'outcome'>(file, table.outcomeAt.get(row), goodEnd);
  const jobId =
    accepted?.jobId ??
    reply?.jobId ??
    (outcome?.status === 'failed' ? outcome.jobId : undefined) ??
    intent?.jobId;
  return {
    id: (intent ?? outcome ?? accepted ?? reply)?.id ?? '',
    status: recovery.statusAt(row),
    attempts: table.attempts.get(row),
    ...(intent && { intent }),
    ...(jobId !== undefined && { jobId }),
    ...(accepted && { acceptedAt: accepted.at }),
    ...(reply && { reply }),
    ...(outcome && { outcome }),
  };
}

/** The rows that have not ended: accepted ones first, the oldest in front, because the service keeps results for a while only. */
export async function readPending(file: DiskFile, found: RecoveredFile): Promise<Map<string, PendingRow>> {
  const pending: PendingRow[] = [];
  const { recovery } = found;
  for (let index = 0; index < recovery.table.length; index++) {
    if (!isPending(recovery.statusAt(index))) continue;
    const row = (await readRow(file, found, index)) as PendingRow;
    pending.push({ ...row, price: priceOf(recovery, index) });
  }
  pending.sort(
    (a, b) => urgency(a) - urgency(b) || (a.acceptedAt ?? a.intent.at) - (b.acceptedAt ?? b.intent.at),
  );
  return new Map(pending.map((row) => [row.id, row]));
}

function isPending(status: RowRecords['status']): status is PendingRow['status'] {
  return status === 'sent' || status === 'accepted' || status === 'replied';
}

function urgency({ status }: PendingRow): number {
  return { accepted: 0, replied: 1, sent: 2 }[status];
}

function priceOf({ tally }: Recovery, row: number): number | null {
  const amount = tally.bookingOf(row) === bookings.none ? 0 : tally.amountOf(row);
  return Number.isNaN(amount) ? null : amount;
}

async function readAt<K extends JournalRecord['k']>(
  file: DiskFile,
  place: number,
  to: number,
): Promise<RecordOf<K> | undefined> {
  if (place === 0) return undefined;
  for await (const { bytes } of readLines(file, { from: place - 1, to, chunkBytes: recordChunkBytes })) {
    return decodeRecord(bytes).record as RecordOf<K>;
  }
  return undefined;
}
