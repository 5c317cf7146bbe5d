import { type MicroDollars, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { otherValues } from '../../batch/ledger/value-caps.js';
import type { ColumnCosts, ValueSummary } from '../../batch/sinks/summary-file.js';
import { countOf } from './format-amounts.js';

/** The cost and the outcomes of the rows with one value. */
export interface ValueLine {
  /** For people. */
  readonly name: string;
  /** As in the manifest; empty for rows without a value, and for several values together. */
  readonly value: string;
  readonly reported: MicroDollars;
  readonly estimated: MicroDollars;
  /** Held for purchases that may have been made. */
  readonly unknown: MicroDollars;
  readonly completed: number;
  /** Without those in doubt and those that are not downloaded. */
  readonly failed: number;
  readonly undownloaded: number;
  readonly held: number;
}

/**
 * A line for each value of a `--cost-by` column, the highest cost first. Values beyond `most`, and those that the
 * summary does not list, share the last line.
 *
 * @param show makes text of a manifest safe for a line
 */
export function dearestValues(
  { values, others }: ColumnCosts,
  most: number,
  show: (text: string) => string,
): ValueLine[] {
  const all = Object.entries(values).sort(([, one], [, other]) => amountOf(other) - amountOf(one));
  const lines = all.slice(0, most).map(([value, sums]) => lineOf(valueName(value, show), value, [sums]));
  const rest = all.slice(most).map(([, sums]) => sums);
  const left = rest.length + (others?.values ?? 0);
  if (left === 0) return lines;
  return [...lines, lineOf(countOf(left, 'other'), '', others === undefined ? rest : [...rest, others])];
}

function lineOf(name: string, value: string, of: readonly ValueSummary[]): ValueLine {
  const sum = (part: keyof ValueSummary): number => of.reduce((total, one) => total + one[part], 0);
  const [held, undownloaded] = [sum('held'), sum('undownloaded')];
  return {
    name,
    value: value === otherValues ? '' : value,
    reported: toMicroDollars(sum('reported')),
    estimated: toMicroDollars(sum('estimated')),
    unknown: toMicroDollars(sum('unknown')),
    completed: sum('completed'),
    failed: sum('failed') - held - undownloaded,
    undownloaded,
    held,
  };
}

function amountOf({ reported, estimated, unknown }: ValueSummary): number {
  return reported + estimated + unknown;
}

/** A value for people. The NUL stands for the values that are not listed. */
export function valueName(value: string, show: (text: string) => string): string {
  if (value === otherValues) return 'others';
  return value === '' ? '(none)' : show(value);
}
