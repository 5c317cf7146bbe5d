import { formatMoney } from '../../../src/contract/micro-dollars.js';
import { cappedValueText, type CappedValue } from '../ledger/value-caps.js';

const valuesShown = 3;
const valuesKept = 1_000;

/** Values of columns whose caps had no room for a row: the row stays to be done, and others go on. */
export class FullValues {
  private readonly first = new Map<string, CappedValue>();
  private count = 0;

  /** Whether rows are left for it. */
  get areThere(): boolean {
    return this.count > 0;
  }

  /** A row is left. Returns what is to be said of its value, the first time. */
  add(full: CappedValue): string | undefined {
    this.count++;
    const name = JSON.stringify([full.column, full.value]);
    if (this.first.has(name) || this.first.size >= valuesKept) return undefined;
    this.first.set(name, full);
    return `No more rows fit under the cap of ${fullValueText(full)}: they stay to be done, and others go on.`;
  }

  /** Why rows are left at the end of a start. */
  get reason(): string {
    const names = [...this.first.values()].slice(0, valuesShown).map(fullValueText);
    const more = this.first.size > names.length ? ', …' : '';
    return `Rows are left at the caps of their values: ${names.join(', ')}${more}. Run again with a higher --max-cost-by to go on, or as it is once money of theirs is free again.`;
  }
}

/** A value, and its cap, for people. */
function fullValueText(full: CappedValue): string {
  return `${cappedValueText(full)} at ${formatMoney(full.cap)}`;
}
