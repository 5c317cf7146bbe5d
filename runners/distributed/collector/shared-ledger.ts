import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Journal, PendingRow } from '../../batch/journal/journal.js';
import { createLedger, type Ledger, type LedgerOptions } from '../../batch/ledger/ledger.js';
import { reservedRows } from '../../batch/row/left-rows.js';
import type { RunState, RunStore } from '../store/run-store.js';
import { isKept } from './kept-ending.js';

/** A ledger whose sums include the database's money. */
export interface SharedLedger extends Ledger {
  /** The database's money as it stands now. */
  update(state: Pick<RunState, 'reserved' | 'spent' | 'unknown'>): void;
}

/**
 * The money of a run whose ledger is in the database, which alone decides what fits under the cap. The ledger here adds what
 * the database does not count, and what the collector ends by itself.
 */
export function createSharedLedger(
  apart: MoneyApart,
  { capUsd }: Pick<LedgerOptions, 'capUsd'>,
): SharedLedger {
  const own = createLedger(apart);
  const { cap } = createLedger({ ...(capUsd !== undefined && { capUsd }) }).snapshot();
  let shared: Pick<RunState, 'reserved' | 'spent' | 'unknown'> = { reserved: 0, spent: 0, unknown: 0 };
  return {
    reserve: (id, price) => own.reserve(id, price),
    settle: (id, cost) => own.settle(id, cost),
    release: (id) => own.release(id),
    keepUnknown: (id) => own.keepUnknown(id),
    hold: (id, price) => own.hold(id, price),
    update: (state) => (shared = state),
    snapshot() {
      const mine = own.snapshot();
      return {
        ...mine,
        reserved: mine.reserved + shared.reserved,
        spent: mine.spent + shared.spent,
        unknown: mine.unknown + shared.unknown,
        ...(cap !== undefined && { cap }),
      };
    },
  };
}

/** Money of a run that its database does not count, in millionths of a dollar. */
export interface MoneyApart {
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
  /** Reserved for purchases that have not ended. */
  readonly reserved: readonly (readonly [id: string, price: MicroDollars | null])[];
}

/** A run in the database, and the number of the last ending that is in the journal. */
interface RunInDatabase {
  readonly store: Pick<RunStore, 'find' | 'moneyOf'>;
  readonly run: number;
  readonly collected: number;
}

/**
 * Money for purchases that the run's folder knows and the database does not: those of starts without a database. Computed at
 * each start, so that it includes what was settled or bought meanwhile.
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

/** Rows that the database counts as well: in flight there, or with an ending that is still to be collected. */
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
