import { MillraceError } from '../../../src/contract/millrace-error.js';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowOrigin } from '../manifest/columns/column-value.js';
import { ValueCaps, type CappedValue, type ValueCapsOptions } from './value-caps.js';

/** The state that a ledger begins with. */
export interface LedgerOptions {
  /** The cap over all starts, in US dollars: no reservation goes beyond it. @defaultValue no cap */
  readonly capUsd?: number | undefined;
  /** Spent by earlier starts. @defaultValue 0 */
  readonly spent?: MicroDollars | undefined;
  /** Held by earlier starts for purchases whose end is not known. @defaultValue 0 */
  readonly unknown?: MicroDollars | undefined;
  /** Reservations of rows that have not ended. They are kept even where they exceed the cap. */
  readonly reserved?:
    Iterable<readonly [id: string, price: MicroDollars | null, row?: RowOrigin]> | undefined;
  /** Caps of the values of columns. The money that earlier starts took includes what is `reserved`. @defaultValue none */
  readonly byValue?: ValueCapsOptions | undefined;
  /** Another process decides what fits under the caps: this ledger only adds up. @defaultValue false */
  readonly isDecidedElsewhere?: boolean | undefined;
}

/** In millionths of a dollar. */
export interface LedgerSnapshot {
  readonly reserved: MicroDollars;
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
  /** The sum by which purchases cost more than was reserved for them. The cap can be exceeded by no more than this. */
  readonly drift: MicroDollars;
  /** The number of reserved or unknown purchases without a known price; they count as 0 in the sums. */
  readonly unpriced: number;
  readonly cap?: MicroDollars;
}

/** The money of a run, by row. Call `reserve` before the POST, then exactly one of `settle`, `release`, `keepUnknown`. */
export interface Ledger {
  /** Another process decides what fits: under the caps, and under the limit for prices in no list. @defaultValue false */
  readonly isDecidedElsewhere?: boolean;
  /**
   * Reserves `price` under the cap. Returns false if it does not fit, or if it is `null` under a cap; nothing is
   * reserved then.
   *
   * @param row its values are checked against the caps of values; `fullValue` names the one that is full
   * @throws {MillraceError} `ledger` if the row has a reservation already: it would be bought twice.
   */
  reserve(id: string, price: MicroDollars | null, row?: RowOrigin): boolean;
  /** The value of the row whose cap leaves no room for the price. `undefined` if there is room, or no such cap. */
  fullValue?(price: MicroDollars | null, row: RowOrigin): CappedValue | undefined;
  /** The values of the row that have caps, with the money taken for each. */
  takenBy?(row: RowOrigin): readonly CappedValue[];
  /** The purchase ended and cost this much. `null`: the cost will never be known, and the reservation stays in `unknown`. */
  settle(id: string, cost: MicroDollars | null): void;
  /** Nothing was bought: the reservation is released. Money held as unknown stays. */
  release(id: string): void;
  /** The purchase may have been made: the reservation becomes unknown. A later `settle` of the row ends that. */
  keepUnknown(id: string): void;
  /** Holds an earlier purchase of the row that may have been made, even where it exceeds the cap. */
  hold(id: string, price: MicroDollars | null, row?: RowOrigin): void;
  /** The current sums. */
  snapshot(): LedgerSnapshot;
}

/**
 * Whether a purchase fits under the cap beside the money that is reserved, spent or unknown. A price that is not known
 * never fits.
 */
export function fitsUnderCap(
  { cap, reserved, spent, unknown }: Pick<LedgerSnapshot, 'cap' | 'reserved' | 'spent' | 'unknown'>,
  price: MicroDollars | null,
): boolean {
  return cap === undefined || (price !== null && reserved + spent + unknown + price <= cap);
}

interface Hold {
  readonly price: MicroDollars | null;
  readonly state: 'reserved' | 'unknown';
  /** The row's values in the columns that have caps. */
  readonly values: readonly string[];
}

const noValues: readonly string[] = [];

/** A ledger in memory; the money of earlier starts is passed in as options. */
export function createLedger(options: LedgerOptions = {}): Ledger {
  return new MemoryLedger(options);
}

class MemoryLedger implements Ledger {
  private readonly cap: MicroDollars | undefined;
  private readonly holds = new Map<string, Hold>();
  private readonly sums = { reserved: 0, unknown: 0 };
  private latest: Hold | undefined;
  private spent: MicroDollars;
  private drift = 0;
  private unpriced = 0;
  /** Absent if no column has caps. */
  private readonly byValue: ValueCaps | undefined;
  readonly isDecidedElsewhere: boolean;

  constructor(options: LedgerOptions) {
    const { capUsd, spent = 0, unknown = 0, reserved = [], byValue } = options;
    this.isDecidedElsewhere = options.isDecidedElsewhere ?? false;
    this.cap = capUsd === undefined ? undefined : toMicroDollars(capUsd);
    this.spent = spent;
    this.sums.unknown = unknown;
    this.byValue = byValue && Object.keys(byValue.capsUsd).length > 0 ? new ValueCaps(byValue) : undefined;
    for (const [id, price, row] of reserved) {
      const hold = this.holdOf('reserved', price, row);
      this.add(id, hold);
      // The sums of earlier starts already include it.
      this.byValue?.add(hold.values, -(price ?? 0));
    }
  }

  reserve(id: string, price: MicroDollars | null, row?: RowOrigin): boolean {
    this.refuseSecond(id);
    const hold = this.holdOf('reserved', price, row);
    if (!this.isDecidedElsewhere) {
      if (this.cap !== undefined && !fitsUnderCap(this.snapshot(), price)) return false;
      if (row !== undefined && this.byValue?.full(hold.values, price) !== undefined) return false;
    }
    this.add(id, hold);
    return true;
  }

  fullValue(price: MicroDollars | null, row: RowOrigin): CappedValue | undefined {
    return this.isDecidedElsewhere ? undefined : this.byValue?.full(this.byValue.valuesOf(row), price);
  }

  takenBy(row: RowOrigin): readonly CappedValue[] {
    return this.byValue?.takenBy(row) ?? [];
  }

  settle(id: string, cost: MicroDollars | null): void {
    if (cost === null) {
      this.keepUnknown(id);
      // The id is forgotten: a million rows of no known price would keep a million ids in memory.
      return void this.holds.delete(id);
    }
    const { price: reserved, values = [] } = this.holds.get(id) ?? {};
    // Without a known price a purchase cannot cost more than expected; under a cap its cost counts as drift all the
    // same.
    if (reserved !== null || this.cap !== undefined) this.drift += Math.max(cost - (reserved ?? 0), 0);
    this.remove(id);
    this.spent += cost;
    this.byValue?.add(values, cost);
  }

  release(id: string): void {
    if (this.holds.get(id)?.state === 'reserved') this.remove(id);
  }

  keepUnknown(id: string): void {
    const hold = this.holds.get(id);
    if (hold === undefined) return;
    this.remove(id);
    this.add(id, { ...hold, state: 'unknown' });
  }

  hold(id: string, price: MicroDollars | null, row?: RowOrigin): void {
    this.refuseSecond(id);
    this.add(id, this.holdOf('unknown', price, row));
  }

  snapshot(): LedgerSnapshot {
    const { spent, drift, unpriced, cap } = this;
    return { spent, drift, unpriced, ...this.sums, ...(cap !== undefined && { cap }) };
  }

  private refuseSecond(id: string): void {
    if (this.holds.get(id)?.state !== 'reserved') return;
    throw new MillraceError('ledger', `Row "${id}" has a reservation already.`);
  }

  private holdOf(state: Hold['state'], price: MicroDollars | null, row: RowOrigin | undefined): Hold {
    const values = (row && this.byValue?.valuesOf(row)) ?? noValues;
    const { latest } = this;
    // Most rows have the same price: they share one object.
    const isSame = latest?.price === price && latest.state === state && latest.values === values;
    return isSame ? latest : (this.latest = { price, state, values });
  }

  /** An unknown purchase that the row had before stays in the sums, but no longer under the row's id. */
  private add(id: string, hold: Hold): void {
    this.holds.set(id, hold);
    this.sums[hold.state] += hold.price ?? 0;
    if (hold.price === null) this.unpriced++;
    this.byValue?.add(hold.values, hold.price ?? 0);
  }

  private remove(id: string): void {
    const hold = this.holds.get(id);
    if (hold === undefined) return;
    this.holds.delete(id);
    this.sums[hold.state] -= hold.price ?? 0;
    if (hold.price === null) this.unpriced--;
    this.byValue?.add(hold.values, -(hold.price ?? 0));
  }
}
