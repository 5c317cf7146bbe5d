import { InvalidOptionError } from '../contract/invalid-option-error.js';
import { toMicroDollars, toUsd, type MicroDollars } from '../contract/micro-dollars.js';

/** A cap that purchases share. What is reserved, spent and kept never passes it, unless the service bills more than was reserved. */
export interface Budget {
  /**
   * Takes room for a purchase; `false`: there is none. A purchase that has its room already joins it.
   * @param purchase what is bought, by identity: a job
   */
  reserve(purchase: object, price: MicroDollars): boolean;
  /** It was not sent and will not be: its room is free again, once all who reserved it have released it. */
  release(purchase: object): void;
  /** It may have been paid: its room stays taken until it is settled. */
  keep(purchase: object): void;
  /** What it cost; 0 when it was not charged. */
  settle(purchase: object, cost: MicroDollars): void;
  /** USD, as it stands now. `unknownUsd` is kept for what may have been paid. */
  state(): { capUsd: number; reservedUsd: number; spentUsd: number; unknownUsd: number };
}

interface Entry {
  readonly price: MicroDollars;
  holders: number;
  stage: 'reserved' | 'unknown' | 'spent';
}

/** @throws InvalidOptionError when the cap is no number from 0 on */
export function createBudget(capUsd: number): Budget {
  if (!(capUsd >= 0)) throw new InvalidOptionError('capUsd', `is no number from 0 on (got ${capUsd})`);
  const cap = toMicroDollars(capUsd);
  const entries = new WeakMap<object, Entry>();
  const totals = { reserved: 0, unknown: 0, spent: 0 };
  const move = (entry: Entry, to: 'unknown' | 'spent', amount: MicroDollars) => {
    totals[entry.stage] -= entry.price;
    totals[to] += amount;
    entry.stage = to;
  };
  return {
    reserve(purchase, price) {
      const known = entries.get(purchase);
      if (known !== undefined) {
        known.holders += 1;
        return true;
      }
      if (totals.reserved + totals.unknown + totals.spent + price > cap) return false;
      totals.reserved += price;
      entries.set(purchase, { price, holders: 1, stage: 'reserved' });
      return true;
    },
    release(purchase) {
      const entry = entries.get(purchase);
      if (entry?.stage !== 'reserved' || --entry.holders > 0) return;
      totals.reserved -= entry.price;
      entries.delete(purchase);
    },
    keep(purchase) {
      const entry = entries.get(purchase);
      if (entry?.stage === 'reserved') move(entry, 'unknown', entry.price);
    },
    settle(purchase, cost) {
      const entry = entries.get(purchase);
      if (entry !== undefined && entry.stage !== 'spent') move(entry, 'spent', cost);
    },
    state: () => ({
      capUsd: toUsd(cap),
      reservedUsd: toUsd(totals.reserved),
      spentUsd: toUsd(totals.spent),
      unknownUsd: toUsd(totals.unknown),
    }),
  };
}
