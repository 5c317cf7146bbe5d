import { firstValueFrom, merge, timer, type Observable, type SchedulerLike } from 'rxjs';
import { lastValueFrom } from 'rxjs';
import { meaningOf } from '../../batch/callbacks/run-callbacks.js';
import type { Journal } from '../../batch/journal/journal.js';
import { reopenRecord } from '../../batch/row/records-of.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { DatabaseError } from '../database/database-error.js';
import { dropHanded, readHanded } from '../callbacks/handed-callbacks.js';
import { claimJob } from '../table/claim-jobs.js';
import { readLateJobs } from '../table/release-rows.js';
import { countSeats, recallRun, withdrawRows } from '../table/recall-run.js';
import type { RunDatabase } from '../table/run-database.js';
import { createSweeper, sweepMs } from '../table/worker-record.js';
import { copyBehind, type Copied } from './copy-behind.js';

interface Home {
  readonly database: RunDatabase;
  readonly run: number;
  readonly scheduler: SchedulerLike;
  /** Called once where workers take their time. */
  readonly warn: (message: string) => void;
  /** Emits when the person who started this will not wait any more. */
  readonly stop: Observable<unknown>;
}

const lookMs = 250;
const patienceMs = 3_000;

/**
 * Takes a run over: asks its rows back from its workers, and waits until they have given them back or are taken for dead. From then
 * on all that is known of the run lies in its records. Returns the number of this start.
 *
 * @throws {DatabaseError} `database-away` where `stop` emits first
 */
export async function recallRows({ database, run, scheduler, warn, stop }: Home): Promise<number> {
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
        throw new DatabaseError(
          'database-away',
          `${rows} rows are on their way at workers still: nothing was sent.`,
        );
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

/**
 * Brings a folder's journal up to the records of its run, once no worker has rows of it, and takes the rows out of the database.
 * Returns how far it is, and whether the journal has changed and must be read again.
 */
export async function bringHome(
  {
    database,
    run,
    start,
    scheduler,
  }: Pick<Home, 'database' | 'run' | 'scheduler'> & { readonly start: number },
  journal: Journal,
  copied: Copied,
  retries: (id: string) => boolean,
): Promise<Copied & { readonly hasChanged: boolean }> {
  const { copied: records, collected } = await copyBehind(database, run, journal, copied);
  await withdrawRows(database, run, start);
  const now = scheduler.now();
  const late =
    records > 0
      ? []
      : [
          ...(await lateRecords(database, run, journal, { now, retries })),
          ...(await calledRecords(database, run, journal, now)),
        ];
  if (late.length > 0) await lastValueFrom(merge(...late.map((record) => journal.append(record))));
  const among = journal.recovered.records + records + late.length;
  return { collected, among, hasChanged: records + late.length > 0 };
}

/**
 * A row that is held as unknown, and whose job a callback has named, is polled. Callbacks that mean nothing any more are dropped; the
 * others wait for the process that has their row.
 */
async function calledRecords(
  { pool }: RunDatabase,
  run: number,
  journal: Journal,
  at: number,
): Promise<RowRecord[]> {
  const records: RowRecord[] = [];
  const named = new Set<string>();
  const over: string[] = [];
  for (const handed of await readHanded(pool, run)) {
    const { row: id, jobId, digest } = handed;
    const row = await journal.find(id);
    const meaning = meaningOf(row, handed, 'retry');
    if (meaning === 'settled' || meaning === 'foreign') over.push(digest);
    if (meaning !== 'held' || row?.intent === undefined || named.has(id)) continue;
    if ((await claimJob(pool, run, { key: id, endpoint: row.intent.endpoint, jobId })) !== undefined)
      continue;
    named.add(id);
    records.push({ k: 'accepted', at, id, jobId }, reopenRecord(row, { at, why: 'settle', to: 'poll' }));
  }
  await dropHanded(pool, run, over);
  return records;
}

/** A job id that came when its row had ended as unknown is polled, where the row is to be taken up: it is not bought again. */
async function lateRecords(
  database: RunDatabase,
  run: number,
  journal: Journal,
  { now: at, retries }: { readonly now: number; readonly retries: (id: string) => boolean },
): Promise<RowRecord[]> {
  const records: RowRecord[] = [];
  for (const { id, attempt, jobId } of await readLateJobs(database, run)) {
    if (journal.recovered.rows.get(id)?.status !== 'unknown' || !retries(id)) continue;
    const row = await journal.find(id);
    if (row === undefined || row.attempts !== attempt) continue;
    records.push({ k: 'accepted', at, id, jobId }, reopenRecord(row, { at, why: 'retry', to: 'poll' }));
  }
  return records;
}
