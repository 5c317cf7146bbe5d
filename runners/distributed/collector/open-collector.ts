import { asyncScheduler, NEVER, type Observable } from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import type { Disk } from '../../batch/disk/disk.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { Journal } from '../../batch/journal/journal.js';
import { openJournal } from '../../batch/journal/open-journal.js';
import { retryCodes } from '../../batch/row/decide-row.js';
import type { RunBatchOptions } from '../../batch/context/run-options.js';
import type { ConnectedDatabase } from '../connect-database.js';
import { explainDatabase, isAway } from '../database/database-error.js';
import { findRun } from '../table/runs.js';
import { bringHome, recallRows } from './bring-home.js';
import { newRunNote, readRunNote, writeRunNote, type RunNote } from './run-note.js';

/** A run's folder and its database, opened together: no row of the run is on its way, and the journal has all that is known. */
export interface Collector {
  /** Closing it closes the database connection as well. */
  readonly journal: Journal;
  readonly database: ConnectedDatabase;
  readonly note: () => RunNote;
  readonly keepNote: (change: Partial<RunNote>) => Promise<void>;
}

export type CollectorOptions = Pick<RunBatchOptions, 'disk' | 'repair' | 'scheduler' | 'retry' | 'only'> & {
  readonly warn?: (message: string) => void;
  readonly stop?: Observable<unknown>;
};

/**
 * Opens the folder of a run over a database. Rows that workers still have are asked back first.
 *
 * @throws {MillraceError} `usage` when the database does not know the run of this folder
 */
export async function openCollector(
  out: string,
  options: CollectorOptions,
  connect: () => Promise<ConnectedDatabase>,
): Promise<Collector> {
  const { disk = nodeDisk, repair = false, scheduler = asyncScheduler } = options;
  const { warn = () => undefined, stop = NEVER } = options;
  const read = () => openJournal(disk, out, { repair, now: () => scheduler.now() });
  const found = await readRunNote(disk, out);
  const database = await connect();
  try {
    const run = found === undefined ? undefined : await findRun(database, found.key);
    if (found?.isOpen === true && run === undefined) throw notThere(out, found, database.shown);
    // The journal has all that another database knew.
    const known = run === undefined ? undefined : found;
    const keeper = noteKeeper(disk, out, known ?? newRunNote(database), database);
    if (run !== undefined && found?.isOpen === true)
      await recallRows({ database, run, scheduler, warn, stop });
    let journal = await read();
    // Twice at most: late jobs are looked for in a journal that has all records.
    for (let hasChanged = run !== undefined; hasChanged && run !== undefined;) {
      const home = await bringHome(
        { database, run, scheduler },
        journal,
        keeper.note(),
        retried(options),
      ).catch(async (error: unknown) => {
        await journal.close();
        throw error;
      });
      const { collected, among } = home;
      hasChanged = home.hasChanged;
      await keeper.keepNote({ collected, among, isOpen: hasChanged && keeper.note().isOpen });
      if (!hasChanged) break;
      await journal.close();
      journal = await read();
    }
    return { journal: closingWith(journal, database), database, ...keeper };
  } catch (error) {
    await database.close();
    throw isAway(error) ? explainDatabase(error, database.shown) : error;
  }
}

function noteKeeper(
  disk: Disk,
  out: string,
  first: RunNote,
  { shown, isEmbedded }: ConnectedDatabase,
): Pick<Collector, 'note' | 'keepNote'> {
  let known = first;
  return {
    note: () => known,
    keepNote: async (change) => {
      known = { ...known, ...change, database: shown, isEmbedded };
      await writeRunNote(disk, out, known);
    },
  };
}

function retried({ retry = [], only }: Pick<RunBatchOptions, 'retry' | 'only'>): (id: string) => boolean {
  const isRetried = retryCodes(retry).has('unknown');
  return (id) => isRetried && only?.includes(id) !== false;
}

function closingWith(journal: Journal, database: ConnectedDatabase): Journal {
  return {
    recovered: journal.recovered,
    append: (record) => journal.append(record),
    records: (after) => journal.records(after),
    rowsIn: (statuses) => journal.rowsIn(statuses),
    find: (id) => journal.find(id),
    close: () => journal.close().finally(() => database.close()),
  };
}

function notThere(out: string, note: RunNote, shown: string): MillraceError {
  const message =
    `The run in ${out} lives in the database ${note.database}, and ${shown} does not know it: rows of it may be on their way there. ` +
    'Nothing was sent. Name that database, or choose another --out.';
  return new MillraceError('usage', message);
}
