import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Totals } from '../journal/journal.js';

/** The cost cap of a start. */
export interface CapInForce {
  readonly usd: number;
  /** Who set it: this start. */
  readonly source: 'given';
}

/** The cap that holds for a start; `undefined`: none does. */
export function capInForce({
  maxCostUsd,
}: {
  readonly maxCostUsd?: number | undefined;
}): CapInForce | undefined {
  return maxCostUsd === undefined ? undefined : { usd: maxCostUsd, source: 'given' };
}

/**
 * Counts which rows of a start fit under its cap, in the order in which they are bought: the first one that does not fit
 * stops the run, and so no row after it is counted.
 */
export class RowsUnderCap {
  rows = 0;
  estimated: MicroDollars = 0;
  private room: MicroDollars;
  private isFull = false;

  /** @param before What earlier starts have spent, reserved or hold. @defaultValue nothing */
  constructor(cap: CapInForce | undefined, before?: Pick<Totals, 'spent' | 'unknown' | 'reserved'>) {
    const taken =
      before === undefined
        ? 0
        : before.spent.reported + before.spent.estimated + before.unknown + before.reserved;
    this.room = cap === undefined ? Number.POSITIVE_INFINITY : toMicroDollars(cap.usd) - taken;
  }

  /** @param price `null`: it is not known, and 0 is counted */
  add(price: MicroDollars | null): void {
    this.isFull ||= (price ?? 0) > this.room;
    if (this.isFull) return;
    this.rows++;
    this.estimated += price ?? 0;
    this.room -= price ?? 0;
  }
}
