import { formatMoney, type MicroDollars } from '../../src/contract/micro-dollars.js';
import { dearestValues, type ValueLine } from './messages/dearest-values.js';
import { formatCount } from './messages/format-amounts.js';
import type { Survey } from './survey/survey-run.js';

/** A table of the cost of rows for each value of one column; plain text only. */
export interface ByValueView {
  readonly column: string;
  /** The cap of the value; empty without one. */
  readonly cap: string;
  readonly lines: readonly {
    readonly name: string;
    /** The full value if its name is shortened; otherwise empty. */
    readonly whole: string;
    readonly completed: string;
    readonly failed: string;
    readonly undownloaded: string;
    readonly held: string;
    readonly spent: string;
    readonly unknown: string;
  }[];
}

const valuesShown = 50;
const longestName = 60;

/** A table for each `--cost-by` column of the run, if rows have values of it. */
export function viewByValue({ byValue }: Pick<Survey, 'byValue'>): ByValueView[] {
  return byValue
    .map(({ column, costs, cap }) => ({
      column: shortened(column),
      cap: cap === undefined ? '' : formatMoney(cap),
      lines: dearestValues(costs, valuesShown, shortened).map(viewLine),
    }))
    .filter(({ lines }) => lines.length > 0);
}

function viewLine(line: ValueLine): ByValueView['lines'][number] {
  const { name, value, reported, estimated, unknown } = line;
  const spent = moneyOrDash(reported + estimated);
  return {
    name,
    whole: value === '' || value === name ? '' : value,
    completed: countOrDash(line.completed),
    failed: countOrDash(line.failed),
    undownloaded: countOrDash(line.undownloaded),
    held: countOrDash(line.held),
    spent: estimated > 0 ? `about ${spent}` : spent,
    unknown: moneyOrDash(unknown),
  };
}

/** Cuts by code points: half an emoji is not valid text. */
function shortened(text: string): string {
  const signs = Array.from(text.slice(0, longestName * 3));
  return signs.length > longestName ? `${signs.slice(0, longestName - 1).join('')}…` : text;
}

export function moneyOrDash(amount: MicroDollars): string {
  return amount === 0 ? '–' : formatMoney(amount);
}

function countOrDash(count: number): string {
  return count === 0 ? '–' : formatCount(count);
}
