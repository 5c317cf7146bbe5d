import { isDeepStrictEqual } from 'node:util';
import { firstValueFrom, lastValueFrom, merge, timer, type Observable, type SchedulerLike } from 'rxjs';
import { meaningOf } from '../../batch/callbacks/run-callbacks.js';
import type { Journal } from '../../batch/journal/journal.js';
import { reopenRecord } from '../../batch/row/records-of.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { DatabaseError } from '../database/database-error.js';
import { dropHanded, readHanded } from '../callbacks/handed-callbacks.js';
import { claimJob } from '../table/claim-jobs.js';
import { readLateJobs } from '../table/release-rows.js';
import { countSeats, recallRun, withdrawRows } from '../table/recall-run.js';
import { readRecordsAfter, type StoredRecord } from '../table/records.js';
import type { RunDatabase } from '../table/run-database.js';
import { createSweeper, sweepMs } from '../table/worker-record.js';

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

/** How far a folder's journal has the records of its run in a database. */
interface Copied {
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
async function copyBehind(
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
