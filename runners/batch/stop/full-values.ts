import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { FullValue } from '../ledger/value-caps.js';

export type { FullValue };

const valuesShown = 3;
const valuesKept = 1_000;

/** Values of columns whose caps had no room for a row: the row stays to be done, and others go on. */
export class FullValues {
  private readonly first = new Map<string, FullValue>();
  private count = 0;

  /** How many times a row was left for it. */
  get rows(): number {
    return this.count;
  }

  /** A row is left. True where it is the first one of its value. */
  add(full: FullValue, rows = 1): boolean {
    this.count += rows;
    const name = JSON.stringify([full.column, full.value]);
    if (this.first.has(name) || this.first.size >= valuesKept) return false;
    this.first.set(name, full);
    return true;
  }

  /** Why rows are left at the end of a start. */
  get reason(): string {
    const names = [...this.first.values()].slice(0, valuesShown).map(fullValueText);
    const more = this.first.size > names.length ? ', …' : '';
    return `Rows are left at the caps of their values: ${names.join(', ')}${more}. Run again with a higher --max-cost-by to go on.`;
  }
}

/** A value, and its cap, for people. */
export function fullValueText({ column, value, cap }: FullValue): string {
  return `${column} ${value === '' ? '(none)' : JSON.stringify(value)} at $${toUsd(cap)}`;
}
