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
   *   the same one, and is not counted again, unless it ended before the last 10,000 purchases
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
  /** At the service, if known. */
  address: string;
  holders: number;
  state: 'reserved' | 'unknown' | 'spent';
}

/** @throws InvalidOptionError if the cap is not a number of at least 0 */
export function createBudget(capUsd: number): Budget {
  checkNumber('capUsd', capUsd, 'number from 0 on');
  const cap = toMicroDollars(capUsd);
  const entries = new WeakMap<object, Entry>();
  const addresses = new Addresses();
  const totals = { reserved: 0, unknown: 0, spent: 0 };
  const move = (entry: Entry, to: Entry['state'], amount: MicroDollars) => {
    totals[entry.state] -= entry.price;
    totals[to] += amount;
    entry.state = to;
  };
  return {
    reserve(purchase, price, address = '') {
      const known = entries.get(purchase) ?? addresses.find(address);
      if (known !== undefined) {
        known.holders += 1;
        entries.set(purchase, known);
        return true;
      }
      if (totals.reserved + totals.unknown + totals.spent + price > cap) return false;
      totals.reserved += price;
      const entry: Entry = { price, address, holders: 1, state: 'reserved' };
      entries.set(purchase, entry);
      addresses.set(entry, address);
      return true;
    },
    identify(purchase, address) {
      const entry = entries.get(purchase);
      if (entry !== undefined) addresses.set(entry, address);
    },
    release(purchase) {
      const entry = entries.get(purchase);
      if (entry?.state !== 'reserved' || --entry.holders > 0) return;
      totals.reserved -= entry.price;
      entries.delete(purchase);
      addresses.forget(entry);
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
      if (entry === undefined || entry.state === 'spent') return;
      move(entry, 'spent', cost);
      addresses.ended(entry);
    },
    state: () => ({
      capUsd: toUsd(cap),
      reservedUsd: toUsd(totals.reserved),
      spentUsd: toUsd(totals.spent),
      unknownUsd: toUsd(totals.unknown),
    }),
  };
}

/** How many ended purchases are recognised, so that a budget that is used for months takes no more memory. */
const endedKept = 10_000;

/** The purchases by their addresses at the service. */
class Addresses {
  private readonly entries = new Map<string, Entry>();
  private readonly endedEntries = new Set<Entry>();

  find(address: string): Entry | undefined {
    return this.entries.get(address);
  }

  set(entry: Entry, address: string): void {
    entry.address = address;
    if (address !== '') this.entries.set(address, entry);
  }

  ended(entry: Entry): void {
    const [oldest] = this.endedEntries.add(entry);
    if (oldest === undefined || this.endedEntries.size <= endedKept) return;
    this.endedEntries.delete(oldest);
    this.forget(oldest);
  }

  forget(entry: Entry): void {
    if (this.entries.get(entry.address) === entry) this.entries.delete(entry.address);
  }
}
