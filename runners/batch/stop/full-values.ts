import { formatMoney, toUsd } from '../../../src/contract/micro-dollars.js';
import { cappedValueText, type CappedValue } from '../ledger/value-caps.js';
import type { RunEnd } from './worst-end.js';

const valuesShown = 3;
const valuesKept = 1_000;

/** Values of columns whose caps had no room for a row: that row is left for a later start, and other rows continue. */
export class FullValues {
  private readonly first = new Map<string, CappedValue>();
  private count = 0;

  get areThere(): boolean {
    return this.count > 0;
  }

  /** Counts a row that is left. Returns a message about its value, the first time. */
  add(full: CappedValue): string | undefined {
    this.count++;
    const name = JSON.stringify([full.column, full.value]);
    if (this.first.has(name) || this.first.size >= valuesKept) return undefined;
    this.first.set(name, full);
    return `No more rows fit under the cap of ${fullValueText(full)}: they are left for a later start, and others continue.`;
  }

  /** The end of a start that leaves rows because of such caps. */
  get end(): RunEnd {
    const full = [...this.first.values()];
    const names = full.slice(0, valuesShown).map(fullValueText);
    const more = this.first.size > names.length ? ', …' : '';
    const reason = `Rows are left at the caps of their values: ${names.join(', ')}${more}. Run again with a higher --max-cost-by to continue, or unchanged once some of their money is free again.`;
    const columns = new Map(full.map(({ column, cap }) => [column, toUsd(cap)]));
    const caps = [...columns].map(([column, usd]) => ({ option: 'max-cost-by' as const, column, usd }));
    return { exitCode: 3, reason, caps };
  }
}

/** A value with its cap, for messages. */
function fullValueText(full: CappedValue): string {
  return `${cappedValueText(full)} at ${formatMoney(full.cap)}`;
}
