import { asyncScheduler, NEVER, type Observable } from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import { journalWith, type Journal } from '../../batch/journal/journal.js';
import type { DatabaseOfStart } from '../../batch/journal/elsewhere.js';
import { openJournal } from '../../batch/journal/open-journal.js';
import type { JournalRecord } from '../../batch/journal/record.js';
import type { RunBatchOptions } from '../../batch/context/run-options.js';
import { type ConnectedDatabase, connectDatabase } from '../connect-database.js';
import {
  BrokenDatabase,
  DatabaseError,
  explainDatabase,
  isAway,
  isBroken,
} from '../database/database-error.js';
import { readState } from '../table/run-state.js';
import { findRun, makeRun, wasMoved } from '../table/runs.js';
import { DatabasePutBack } from '../table/seats.js';
import { holdFed } from './copy-behind.js';
import { openWithAllRecords, recallRows, rowsLeftUnknown, sendsAgain } from './open-with-all-records.js';
import {
  keepingNote,
  newRunNote,
  readRunNote,
  type NoteKeeper,
  type RunNote,
  type DatabaseOfRun,
} from './run-note.js';

/** A run's folder and its database, opened together: no worker has a row of the run, and the journal has all records. */
export interface Collector extends NoteKeeper {
  /** Closing it closes the database connection as well. */
  readonly journal: Journal;
  readonly database: ConnectedDatabase;
  /** The number of this start in the database; 0 if the database does not know the run yet. */
  readonly start: number;
}

export type CollectorOptions = Pick<
  RunBatchOptions,
  'disk' | 'repair' | 'scheduler' | 'costBy' | 'maxCostByUsd' | 'onUnknown' | 'maxCostPerDayUsd'
> & {
  readonly warn?: (message: string) => void;
  readonly stop?: Observable<unknown>;
};

/**
 * Opens the folder of a run over a database. First it asks workers to give back the rows that they have.
 *
 * @throws {MillraceError} `usage` if the database does not know the run of this folder, unless `repair` is true
 * @throws {DatabasePutBack} if it was put back to an earlier state, unless `repair` is true
 */
export async function openCollector(
  out: string,
  options: CollectorOptions,
  connect: () => Promise<ConnectedDatabase>,
): Promise<Collector> {
  const { disk = nodeDisk, repair = false, scheduler = asyncScheduler } = options;
  const { warn = () => undefined, stop = NEVER, costBy, maxCostByUsd } = options;
  let opened: Journal | undefined;
  const read = async () =>
    (opened = await openJournal(disk, out, { repair, costBy, maxCostByUsd, now: () => scheduler.now() }));
  const found = await readRunNote(disk, out);
  const database = await connect();
  try {
    const first = await noteOf(found, database, read);
    const run = await foundRun(database, first.key);
    const why =
      run === undefined
        ? first.isOpen && notThere(out, first, database.shown)
        : await whyPutBack(database, run, first);
    if (why !== false) {
      if (!repair) throw why;
      const behind = await read();
      await holdFed(behind, first, scheduler.now());
      await behind.close();
    }
    // The journal already has all records of the other database.
    const known = first.isBegun && run === undefined ? newRunNote(database) : first;
    const keeper = keepingNote(disk, out, known, database);
    // Written before the journal names the run; otherwise the note would look lost.
    if (known !== found) await keeper.keepNote({});
    const start = run === undefined ? 0 : await recallRows({ database, run, scheduler, warn, stop });
    const journal =
      run === undefined
        ? await read()
        : await openWithAllRecords({ out, database, run, start, scheduler, repair, keeper, open: read });
    const leftUnknown = sendsAgain(options) ? await rowsLeftUnknown(journal) : undefined;
    const { key } = keeper.note();
    const started = { key, database: database.shown };
    return { journal: journalOf(journal, database, started, leftUnknown), database, start, ...keeper };
  } catch (error) {
    await opened?.close().catch(() => undefined);
    await database.close();
    throw explained(error, database.shown);
  }
}

function explained(error: unknown, shown: string): unknown {
  if (isBroken(error)) return new BrokenDatabase(error, shown);
  return isAway(error) ? explainDatabase(error, shown) : error;
}

/** The run, with its ledger and its queues: without them its workers could not give rows back. */
async function foundRun(database: ConnectedDatabase, key: string): Promise<number | undefined> {
  return (await findRun(database, key)) === undefined ? undefined : makeRun(database, key);
}

/**
 * The last start, or a worker of it, has found that the database lacks what it had written; or nobody knows, because workers that
 * had rows then may have died with the database.
 */
async function whyPutBack(
  database: ConnectedDatabase,
  run: number,
  { isOpen }: RunNote,
): Promise<DatabasePutBack | false> {
  const behind = new DatabasePutBack();
  const { troubles } = await readState(database, run);
  if (troubles.some(({ reason }) => reason === behind.message)) return behind;
  return isOpen && (await wasMoved(database, run)) && new DatabasePutBack('moved');
}

/** If the folder's note is lost, the journal names the run: a new run would buy all rows again. */
async function noteOf(
  found: RunNote | undefined,
  database: ConnectedDatabase,
  read: () => Promise<Journal>,
): Promise<RunNote> {
  if (found !== undefined) return found;
  const journal = await read();
  await journal.close();
  return newRunNote(database, journal.recovered.database);
}

/** The journal of the run. Each start that it records names the run and the database. Closing it also closes the database. */
function journalOf(
  journal: Journal,
  connected: ConnectedDatabase,
  database: DatabaseOfStart,
  leftUnknown: ReadonlySet<string> | undefined,
): Journal {
  const noted = (record: JournalRecord): JournalRecord =>
    record.k === 'start' ? { ...record, settings: { ...record.settings, database } } : record;
  return journalWith(journal, {
    recovered: { ...journal.recovered, leftUnknown },
    append: (record) => journal.append(noted(record)),
    close: () => journal.close().finally(() => connected.close()),
  });
}

function notThere(out: string, note: RunNote, shown: string): MillraceError {
  const message =
    `The run in ${out} is in the database ${note.database}, but ${shown} does not know it: rows of it may be on their way there. ` +
    'Nothing was sent. Name that database. If it is gone for good, --repair goes on without it: rows that it may have bought are in doubt then.';
  return new MillraceError('usage', message);
}

/**
 * Opens the journal of a run whose rows workers may have: first the workers give back the rows, and their records are copied.
 * Returns `undefined` if the folder has all records, so that no database is needed.
 *
 * @throws {DatabaseError} `database-away`; nothing has been changed then
 */
export function journalOfRun(
  { note, choice }: DatabaseOfRun,
  env: Readonly<Record<string, string | undefined>>,
  warn: (message: string) => void,
): ((out: string) => Promise<Journal>) | undefined {
  if (!note.isOpen) return undefined;
  return async (out) => {
    const connect = () => connectDatabase(choice, { env, name: 'millrace settle', max: 3 });
    try {
      return (await openCollector(out, { warn }, connect)).journal;
    } catch (error) {
      if (error instanceof MillraceError && !(error instanceof DatabaseError)) throw error;
      const { code, message, cause } = explainDatabase(error, 'of the run');
      const when = code === 'database-away' ? ': settle again when the database is back' : '';
      throw new DatabaseError(code, `${message} Nothing is settled${when}.`, { cause });
    }
  };
}
