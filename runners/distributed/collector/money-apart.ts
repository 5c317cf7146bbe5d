import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Journal, PendingRow } from '../../batch/journal/journal.js';
import { reservedRows } from '../../batch/start/recover-sent.js';
import type { RunStore } from '../store/run-store.js';
import { isKept } from './kept-ending.js';

/** Money of a run that its database does not count, in millionths of a dollar. */
export interface MoneyApart {
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
  /** For purchases that have not ended. */
  readonly reserved: readonly (readonly [id: string, price: MicroDollars | null])[];
}

/** What the database knows of the run, and up to where its endings are in the journal. */
export interface RunInDatabase {
  readonly store: Pick<RunStore, 'find' | 'moneyOf'>;
  readonly run: number;
  readonly collected: number;
}

/**
 * What the run's folder knows to be bought and the database does not: by starts without one, before it and since. It is
 * reckoned anew at each start, so that what was settled or bought meanwhile is in it.
 */
export async function moneyApart(journal: Journal, database: RunInDatabase | undefined): Promise<MoneyApart> {
  const { totals } = journal.recovered;
  const counted = await database?.store.moneyOf(database.run, database.collected, ({ id, ending }) =>
    isKept(journal, id, ending),
  );
  const reserved = reservedRows(journal.recovered);
  const theirs = database === undefined ? new Set<string>() : await idsAtWork(journal, reserved, database);
  const less = (mine: MicroDollars, known = 0): MicroDollars => Math.max(mine - known, 0);
  return {
    spent: less(totals.spent.reported + totals.spent.estimated, counted?.spent),
    unknown: less(totals.unknown, counted?.unknown),
    reserved: reserved.filter(({ id }) => !theirs.has(id)).map(({ id, price }) => [id, price]),
  };
}

/** Rows that the database counts as well, as they are or by an ending that is still to be collected. */
async function idsAtWork(
  journal: Journal,
  rows: readonly PendingRow[],
  { store, run }: RunInDatabase,
): Promise<ReadonlySet<string>> {
  const ids = rows.map(({ id }) => id);
  const theirs = new Set<string>();
  for (const { id, ending } of await store.find(run, ids))
    if (ending === undefined || !(await isKept(journal, id, ending))) theirs.add(id);
  return theirs;
}
