import { type MicroDollars, toMicroDollars } from '../../../../src/contract/micro-dollars.js';
import { ValueCaps } from '../../ledger/value-caps.js';
import type { RowOrigin } from '../../manifest/columns/column-value.js';
import type { CostBy, KeptTally, Totals } from '../../row/totals.js';
import { takenByValue } from '../../row/value-costs.js';

export interface CapInForce {
  readonly usd: number;
  /** Where the cap comes from: this start, an earlier start of the run, or the configuration. */
  readonly source: 'given' | 'remembered' | 'configured';
}

interface CapChoices {
  /** `null` lifts the cap; `undefined` leaves it as it is. */
  readonly maxCostUsd?: number | null | undefined;
  readonly defaultMaxCostUsd?: number | undefined;
}

/**
 * The cap of a start; `undefined` if there is none. The option of this start comes first, then what the run remembers,
 * then the default.
 *
 * @param remembered `null` if the run remembers that its cap was lifted
 */
export function capInForce(
  { maxCostUsd, defaultMaxCostUsd }: CapChoices,
  remembered?: number | null,
): CapInForce | undefined {
  const choices = [
    { usd: maxCostUsd, source: 'given' },
    { usd: remembered, source: 'remembered' },
    { usd: defaultMaxCostUsd, source: 'configured' },
  ] as const;
  const first = choices.find(({ usd }) => usd !== undefined);
  return typeof first?.usd === 'number' ? { usd: first.usd, source: first.source } : undefined;
}

/** The cap that the run has to remember from now on; `undefined` if nothing changes. */
export function newCap({ maxCostUsd }: CapChoices, remembered?: number | null): number | null | undefined {
  return maxCostUsd === remembered ? undefined : maxCostUsd;
}

/**
 * Counts the rows of a start that fit under its caps, in the order in which they are bought. The first row that does not fit
 * under the cap of the run stops the run, so no later row counts.
 */
export class RowsUnderCap {
  rows = 0;
  estimated: MicroDollars = 0;
  /** The amount left under the cap before this start buys anything; Infinity without a cap. */
  readonly left: MicroDollars;
  private room: MicroDollars;
  private isFull = false;

  /**
   * @param before The money that earlier starts have spent, reserved or hold as unknown. @defaultValue nothing
   * @param byValue The caps of values of columns. @defaultValue none
   */
  constructor(
    cap: CapInForce | undefined,
    before?: Pick<Totals, 'spent' | 'unknown' | 'reserved'>,
    private readonly byValue?: ValueCaps,
  ) {
    const taken =
      before === undefined
        ? 0
        : before.spent.reported + before.spent.estimated + before.unknown + before.reserved;
    this.left = cap === undefined ? Number.POSITIVE_INFINITY : toMicroDollars(cap.usd) - taken;
    this.room = this.left;
  }

  /**
   * Counts the row unless an earlier one did not fit under the cap of the run. A row that does not fit under the cap of
   * a value does not stop others. Returns whether the row fits.
   *
   * @param price `null` if it is not known; it counts as 0
   */
  add(price: MicroDollars | null, row: RowOrigin): boolean {
    const values = this.byValue?.valuesOf(row) ?? [];
    if (this.byValue?.full(values, price ?? 0) !== undefined) return false;
    this.isFull ||= (price ?? 0) > this.room;
    if (this.isFull) return false;
    this.rows++;
    this.estimated += price ?? 0;
    this.room -= price ?? 0;
    this.byValue?.add(values, price ?? 0);
    return true;
  }
}

/** The caps of a start, with the money that earlier starts have taken. */
export function rowsUnderCaps(
  cap: CapInForce | undefined,
  { capsUsd }: CostBy,
  { totals, tally }: { readonly totals?: Totals; readonly tally?: Pick<KeptTally, 'columns' | 'accounts'> },
): RowsUnderCap {
  const taken = tally === undefined ? new Map<never, never>() : takenByValue(tally);
  const byValue = Object.keys(capsUsd).length > 0 ? new ValueCaps({ capsUsd, taken }) : undefined;
  return new RowsUnderCap(cap, totals, byValue);
}
