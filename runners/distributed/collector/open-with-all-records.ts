import { firstValueFrom, lastValueFrom, merge, timer, type Observable, type SchedulerLike } from 'rxjs';
import { meaningOf } from '../../batch/callbacks/run-callbacks.js';
import type { Journal } from '../../batch/journal/journal.js';
import { reopenRecord } from '../../batch/row/records-of.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { DatabaseError } from '../database/database-error.js';
import { dropStored, readStored } from '../callbacks/callbacks-table.js';
import { claimJob } from '../table/claim-jobs.js';
import { countSeats, recallRun, withdrawRows } from '../table/recall-run.js';
import type { RunDatabase } from '../table/run-ledger.js';
import { createSweeper, sweepMs } from '../table/worker-record.js';
import { copyBehind } from './copy-behind.js';
import type { NoteKeeper } from './run-note.js';

interface RecallParts {
  readonly database: RunDatabase;
  readonly run: number;
  readonly scheduler: SchedulerLike;
  /** Called once if workers are slow to give rows back. */
  readonly warn: (message: string) => void;
  /** Emits when the user stops the command. */
  readonly stop: Observable<unknown>;
}

const lookMs = 250;
const patienceMs = 3_000;

/**
 * Takes over a run: asks its workers for the rows, and waits until they have given them back or are declared dead. From then on
 * the records have everything that is known about the run. Returns the number of this start.
 *
 * @throws {DatabaseError} `database-away` if `stop` emits first
 */
export async function recallRows({ database, run, scheduler, warn, stop }: RecallParts): Promise<number> {
  const order = { isStopped: false };
  const stopping = stop.subscribe(() => (order.isStopped = true));
  const begunAt = scheduler.now();
  let sweptAt = begunAt;
  const sweep = createSweeper(database, () => scheduler.now());
  let hasWarned = false;
  try {
    const start = await recallRun(database, run);
    for (;;) {
      const { seats, rows } = await countSeats(database, run);
      if (seats === 0) return start;
      if (order.isStopped)
        throw new DatabaseError('database-away', `${rows} rows are still at workers: nothing was sent.`);
      const now = scheduler.now();
      if (!hasWarned && now - begunAt >= patienceMs) {
        hasWarned = true;
        warn(
          `Waiting for ${seats === 1 ? 'a worker' : `${seats} workers`} of an earlier start to give ${rows} rows back.`,
        );
      }
      if (now - sweptAt >= sweepMs) {
        sweptAt = now;
        await sweep();
      }
      await firstValueFrom(merge(timer(lookMs, scheduler), stop));
    }
  } finally {
    stopping.unsubscribe();
  }
}

interface OpeningParts extends Pick<RecallParts, 'database' | 'run' | 'scheduler'> {
  readonly out: string;
  readonly start: number;
  readonly keeper: NoteKeeper;
  /** Repairs a journal that has lost records. */
  readonly repair: boolean;
  /**
   * Sends a row again that an earlier start would have sent again, because its request may have been accepted: it died before.
   */
  readonly sendsAgain: boolean;
  /** Opens the journal with the records that it has at that time. */
  readonly open: () => Promise<Journal>;
}

/**
 * Waits until no worker has rows of the run, opens the folder's journal with all of the run's records, and deletes the rows
 * from the database. Jobs that were named for held rows are looked up last, because this needs all records.
 *
 * @throws {JournalError} `journal-broken` if the journal has lost records
 */
export async function openWithAllRecords(parts: OpeningParts): Promise<Journal> {
  const { database, run, start, scheduler, keeper, open } = parts;
  let journal = await open();
  const reopen = () => journal.close().then(open);
  const { hasAppended, isOther, ...position } = await copyBehind(parts, journal, keeper.note());
  await withdrawRows(database, run, start);
  await keeper.keepNote({ ...position, ...(isOther && { named: 0 }) });
  if (hasAppended) journal = await reopen();
  for (const recordsFor of [namedRecords, againRecords]) {
    const records = await recordsFor(parts, journal, scheduler.now());
    if (records.length === 0) continue;
    await lastValueFrom(merge(...records.map((record) => journal.append(record))));
    journal = await reopen();
  }
  await keeper.keepNote({ isOpen: false });
  return journal;
}

/**
 * Records after which held rows are polled, if their jobs are known from a callback, or from an answer that arrived after its
 * worker was declared dead. Stored names without an effect are deleted; all others wait for the process that has their row.
 */
async function namedRecords(
  { database, run }: OpeningParts,
  journal: Journal,
  at: number,
): Promise<RowRecord[]> {
  const { pool } = database;
  const records: RowRecord[] = [];
  const named = new Set<string>();
  const over: string[] = [];
  for (const stored of await readStored(pool, run)) {
    const { row: id, jobId, digest } = stored;
    const row = await journal.find(id);
    const meaning = meaningOf(row, stored, 'retry');
    if (meaning === 'settled' || meaning === 'foreign') over.push(digest);
    if (meaning !== 'held' || row?.intent === undefined || named.has(id)) continue;
    if ((await claimJob(pool, run, { key: id, endpoint: row.intent.endpoint, jobId })) !== undefined)
      continue;
    named.add(id);
    records.push({ k: 'accepted', at, id, jobId }, reopenRecord(row, { at, why: 'settle', to: 'poll' }));
  }
  await dropStored(pool, run, over);
  return records;
}

/**
 * Records that reopen rows in doubt whose start died before it sent them again. Under a cap that runs share, workers leave such
 * rows to their collector, which reserves them first. Rows of a start that has ended stay in doubt.
 */
async function againRecords(
  { sendsAgain }: OpeningParts,
  journal: Journal,
  at: number,
): Promise<RowRecord[]> {
  if (!sendsAgain) return [];
  const ids = new Set<string>();
  let isLeft = false;
  for await (const record of journal.records(0)) {
    if (record.k === 'start') {
      const { onUnknown, maxCostPerDayUsd } = record.settings;
      isLeft = onUnknown === 'retry' && maxCostPerDayUsd !== undefined;
    }
    if (record.k === 'stop') isLeft = false;
    if (record.k === 'start' || record.k === 'stop') ids.clear();
    else if (isLeft && record.k === 'outcome') ids.add(record.id);
  }
  const records: RowRecord[] = [];
  for (const id of ids) {
    const row = await journal.find(id);
    if (row?.status === 'unknown') records.push(reopenRecord(row, { at, why: 'retry', to: 'buy' }));
  }
  return records;
}
