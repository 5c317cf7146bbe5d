import type { Ahead, Summary } from '../../batch/internal.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { dearestValues, type ValueLine, valueName } from '../../report/messages/dearest-values.js';
import { countOf, formatCount, formatMoney, fact, listed, plainText } from './plain-text.js';
import { priceText } from './plan-text.js';

const valuesShown = 10;

/** The cost of rows for each value of a column: one line per value, the highest cost first. */
export function costsByText({ by = {} }: Pick<Summary['cost'], 'by'>): string[] {
  return Object.entries(by).flatMap(([column, costs]) =>
    headed(column, dearestValues(costs, valuesShown, shownValue).map(valueLine)),
  );
}

function valueLine({ name, reported, estimated, unknown, ...rows }: ValueLine): string {
  const parts = [
    `${formatMoney(reported)} reported`,
    estimated > 0 && `${formatMoney(estimated)} estimated`,
    unknown > 0 && `${formatMoney(unknown)} in doubt`,
    `${countOf(rows.completed, 'row')} completed`,
    rows.failed > 0 && `${formatCount(rows.failed)} failed`,
    rows.undownloaded > 0 && `${formatCount(rows.undownloaded)} not downloaded`,
    rows.held > 0 && `${countOf(rows.held, 'row')} in doubt`,
  ];
  return `${name}: ${listed(parts)}`;
}

/** What a start sends for each value of a column, and how many rows fit under the caps of values. */
export function aheadByText({ by = [] }: Pick<Ahead, 'by'>): string[] {
  return by.flatMap(({ column, capUsd, values, short, first }) => {
    if (values === 0) return [];
    const cap = capUsd === undefined ? '' : `, at most ${formatMoney(toMicroDollars(capUsd))} each`;
    const left =
      short > 0 && capUsd !== undefined
        ? `: ${countOf(short, 'row')} ${short === 1 ? 'does' : 'do'} not fit`
        : '';
    const lines = first
      .slice(0, valuesShown)
      .map(({ value, ...ahead }) => `${valueName(value, shownValue)}: ${aheadOfValue(ahead)}`);
    const more = values - lines.length;
    const rest = more > 0 ? [`and ${countOf(more, 'other')}`] : [];
    return headed(column, [`${countOf(values, 'value')}${cap}${left}`, ...lines, ...rest]);
  });
}

type AheadOfValue = Omit<NonNullable<Ahead['by']>[number]['first'][number], 'value'>;

function aheadOfValue({ rows, fits, estimated, unpriced }: AheadOfValue): string {
  const price = priceText({ estimated, unpriced });
  if (fits < rows) return `${formatCount(fits)} of ${countOf(rows, 'row')} fit; all would be ${price}`;
  return unpriced === rows ? price : `${countOf(rows, 'row')}, for ${price}`;
}

function headed(column: string, [first = '', ...others]: readonly string[]): string[] {
  return fact(`by ${plainText(column, 30)}`, first, others);
}

function shownValue(value: string): string {
  return plainText(value, 60);
}
