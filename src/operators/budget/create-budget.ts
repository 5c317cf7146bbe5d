import { checkNumber } from '../../contract/check-option.js';
import { toMicroDollars, toUsd, type MicroDollars } from '../../contract/micro-dollars.js';

/**
 * A cap that purchases share. Reserved, spent and kept money together never exceed it, unless the service charges more than was
 * reserved.
 */
export interface Budget {
  /**
   * Reserves a price for a purchase; returns `false` if it does not fit under the cap. A purchase that has a reservation shares
   * it, even if it has ended.
   *
   * @param purchase what is bought, by identity: a job
   * @param address host, endpoint and id of the job at the service, if known: a purchase that was counted under this address is
   *   the same one, and is not counted again
   */
  reserve(purchase: object, price: MicroDollars, address?: string): boolean;
  /** Sets the purchase's address at the service. A requeued job is a new purchase under an old address. */
  identify?(purchase: object, address: string): void;
  /** Call it if the purchase was not sent and will not be. The reservation ends when it was released as often as it was reserved. */
  release(purchase: object): void;
  /** Call it if the purchase may have been paid for: its price is kept until it is settled. */
  keep(purchase: object): void;
  /** Call it if a purchase that was kept was provably refused: its price is only reserved again, and can be released. */
  refused?(purchase: object): void;
  /** Books the cost of the purchase; 0 if it was not charged. */
  settle(purchase: object, cost: MicroDollars): void;
  /** The current sums in USD. `unknownUsd` is kept for purchases that may have been paid for. */
  state(): { capUsd: number; reservedUsd: number; spentUsd: number; unknownUsd: number };
}

interface Entry {
  readonly price: MicroDollars;
  holders: number;
  state: 'reserved' | 'unknown' | 'spent';
}

/** @throws InvalidOptionError if the cap is not a number of at least 0 */
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
