import { checkNumber } from '../../contract/check-option.js';
import { toMicroDollars, toUsd, type MicroDollars } from '../../contract/micro-dollars.js';

/**
 * A cap that purchases share. Reserved, spent and kept money together never exceed it, unless the service bills more
 * than was reserved.
 */
export interface Budget {
  /**
   * Reserves a price for a purchase; `false` if it does not fit under the cap. A purchase that is reserved already joins
   * its reservation, even if it has ended.
   *
   * @param purchase what is bought, by identity: a job
   * @param address where the service has it, host, endpoint and id, if that is known: whatever was counted under it is
   * this purchase, and takes no other room
   */
  reserve(purchase: object, price: MicroDollars, address?: string): boolean;
  /** Gives the purchase its address at the service. A requeued job is a new purchase under an old address. */
  identify?(purchase: object, address: string): void;
  /** The purchase was not sent and will not be. Its reservation ends once it was released as often as it was reserved. */
  release(purchase: object): void;
  /** The purchase may have been paid: its price is kept until it is settled. */
  keep(purchase: object): void;
  /** The purchase was kept, but was provably refused: its price is only reserved again, and can be released. */
  refused?(purchase: object): void;
  /** Books what the purchase cost; 0 if it was not charged. */
  settle(purchase: object, cost: MicroDollars): void;
  /** The present sums in USD. `unknownUsd` is kept for purchases that may have been paid. */
  state(): { capUsd: number; reservedUsd: number; spentUsd: number; unknownUsd: number };
}

interface Entry {
  readonly price: MicroDollars;
  holders: number;
  state: 'reserved' | 'unknown' | 'spent';
}

/** @throws InvalidOptionError when the cap is not a number from 0 on */
export function createBudget(capUsd: number): Budget {
  checkNumber('capUsd', capUsd, 'number from 0 on');
  const cap = toMicroDollars(capUsd);
  const entries = new WeakMap<object, Entry>();
  const addresses = new Map<string, Entry>();
  const totals = { reserved: 0, unknown: 0, spent: 0 };
  const move = (entry: Entry, to: Entry['state'], amount: MicroDollars) => {
    totals[entry.state] -= entry.price;
    totals[to] += amount;
    entry.state = to;
  };
  return {
    reserve(purchase, price, address = '') {
      const known = entries.get(purchase) ?? addresses.get(address);
      if (known !== undefined) {
        known.holders += 1;
        entries.set(purchase, known);
        return true;
      }
      if (totals.reserved + totals.unknown + totals.spent + price > cap) return false;
      totals.reserved += price;
      const entry: Entry = { price, holders: 1, state: 'reserved' };
      entries.set(purchase, entry);
      if (address !== '') addresses.set(address, entry);
      return true;
    },
    identify(purchase, address) {
      const entry = entries.get(purchase);
      if (entry !== undefined) addresses.set(address, entry);
    },
    release(purchase) {
      const entry = entries.get(purchase);
      if (entry?.state !== 'reserved' || --entry.holders > 0) return;
      totals.reserved -= entry.price;
      entries.delete(purchase);
    },
    keep(purchase) {
      const entry = entries.get(purchase);
      if (entry?.state === 'reserved') move(entry, 'unknown', entry.price);
    },
    refused(purchase) {
      const entry = entries.get(purchase);
      if (entry?.state === 'unknown') move(entry, 'reserved', entry.price);
    },
    settle(purchase, cost) {
      const entry = entries.get(purchase);
      if (entry !== undefined && entry.state !== 'spent') move(entry, 'spent', cost);
    },
    state: () => ({
      capUsd: toUsd(cap),
      reservedUsd: toUsd(totals.reserved),
      spentUsd: toUsd(totals.spent),
      unknownUsd: toUsd(totals.unknown),
    }),
  };
}
