import { asyncScheduler } from 'rxjs';
import { MillraceError } from '../../../src/contract/millrace-error.js';
import { nodeDisk } from '../../batch/disk/node-disk.js';
import type { Journal } from '../../batch/journal/journal.js';
import { openJournal } from '../../batch/journal/open-journal.js';
import { retryCodes } from '../../batch/row/decide-row.js';
import type { RunBatchOptions } from '../../batch/context/run-options.js';
import type { ConnectedDatabase } from '../connect-database.js';
import { createRunStore } from '../store/create-run-store.js';
import type { RunStore } from '../store/run-store.js';
import { mendHeldRows, type HeldRowSource, mendTornIntents } from './mend-journal.js';
import { moneyApart, type MoneyApart } from './shared-ledger.js';
import { newRunNote, readRunNote, writeRunNote, type RunNote } from './run-note.js';

/** A run's folder and its database, opened together. */
export interface Collector {
  /** Closing it closes the database connection as well. */
  readonly journal: Journal;
  readonly store: RunStore;
  readonly note: () => RunNote;
  readonly keepNote: (change: Partial<RunNote>) => Promise<void>;
  readonly apart: MoneyApart;
}

/** @throws {MillraceError} `usage` when the database does not know the run of this folder. */
export async function openCollector(
  out: string,
  options: Pick<RunBatchOptions, 'disk' | 'repair' | 'scheduler' | 'retry' | 'only'>,
  connect: () => Promise<ConnectedDatabase>,
): Promise<Collector> {
  const { disk = nodeDisk, repair = false, scheduler = asyncScheduler } = options;
  const now = (): number => scheduler.now();
  const read = () => openJournal(disk, out, { repair, now });
  let note = await readRunNote(disk, out);
  const database = await connect();
  try {
    const store = createRunStore(database);
    const run = note === undefined ? undefined : await store.findRun(note.key);
    if (note?.isBegun === true && run === undefined) throw notThere(out, note, database.shown);
    const collected = note?.collected ?? 0;
    const journal = await mended(read, {
      find: async (ids) => (run === undefined ? [] : store.find(run, ids)),
      collected,
      retries: retried(options),
      now,
    });
    const apart = await moneyApart(journal, run === undefined ? undefined : { store, run, collected }).catch(
      async (error: unknown) => {
        await journal.close();
        throw error;
      },
    );
    let known: RunNote = note ?? newRunNote(database);
    return {
      journal: closingWith(journal, database),
      store,
      note: () => known,
      apart,
      keepNote: async (change) => {
        const { shown, isEmbedded } = database;
        note = known = { ...known, ...change, database: shown, isEmbedded };
        await writeRunNote(disk, out, known);
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The journal, once what was copied from the database agrees with it. */
async function mended(read: () => Promise<Journal>, mending: HeldRowSource): Promise<Journal> {
  const known = async (ids: readonly string[]) => new Set((await mending.find(ids)).map(({ id }) => id));
  const mends = [
    (journal: Journal) => mendTornIntents(journal, known, mending.now),
    (journal: Journal) => mendHeldRows(journal, mending),
  ];
  let journal = await read();
  for (const mend of mends) {
    const isMended = await mend(journal).catch(async (error: unknown) => {
      await journal.close();
      throw error;
    });
    if (!isMended) continue;
    await journal.close();
    journal = await read();
  }
  return journal;
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
