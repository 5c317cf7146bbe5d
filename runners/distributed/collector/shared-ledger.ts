import { createLedger, type Ledger, type LedgerOptions } from '../../batch/ledger/ledger.js';
import type { MoneyApart } from './money-apart.js';
import type { RunState } from '../store/run-store.js';

/** A ledger that tells of the database's money beside its own. */
export interface SharedLedger extends Ledger {
  /** What the database says now. */
  tell(state: Pick<RunState, 'reserved' | 'spent' | 'unknown'>): void;
}

/**
 * The money of a run whose ledger is in the database, which alone says what fits under the cap. Its own part is what
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
    tell: (state) => (shared = state),
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
