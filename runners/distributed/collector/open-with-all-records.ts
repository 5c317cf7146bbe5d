import { firstValueFrom, merge, timer, type Observable, type SchedulerLike } from 'rxjs';
import { meaningOf } from '../../batch/callbacks/run-callbacks.js';
import { appendAll, type Journal } from '../../batch/journal/journal.js';
import { reopenRecord } from '../../batch/row/records-of.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { DatabaseError } from '../database/database-error.js';
import { dropStored, storedPages } from '../callbacks/callbacks-table.js';
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
  let sweptAt = -Infinity;
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
  const named = await namedRecords(parts, journal, scheduler.now());
  if (named.length > 0) {
    await appendAll(journal, named);
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
  for await (const page of storedPages(pool, run)) {
    const over: string[] = [];
    for (const stored of page) {
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
  }
  return records;
}

/**
 * Rows whose requests the last start has sent, if it died: those of them that are in doubt it would have sent again. Under a cap
 * that runs share, workers leave such rows to their collector, which reserves them first. Rows of a start that has ended stay in
 * doubt. `undefined` if there are none.
 */
export async function rowsLeftUnknown(
  journal: Pick<Journal, 'records'>,
): Promise<ReadonlySet<string> | undefined> {
  const ids = new Set<string>();
  let isLeft = false;
  for await (const record of journal.records(0)) {
    if (record.k === 'start' || record.k === 'stop') {
      isLeft = record.k === 'start' && sendsAgain(record.settings);
      ids.clear();
    } else if (isLeft && record.k === 'intent') ids.add(record.id);
    else if (record.k === 'outcome' && record.source !== 'unknown') ids.delete(record.id);
  }
  return ids.size > 0 ? ids : undefined;
}

/** Whether a start over a database sends rows in doubt again, under a cap that runs share. */
export function sendsAgain(
  settings: Readonly<Partial<Record<'onUnknown' | 'maxCostPerDayUsd', unknown>>>,
): boolean {
  return settings.onUnknown === 'retry' && settings.maxCostPerDayUsd !== undefined;
}
