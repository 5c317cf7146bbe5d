import { otherValues } from '../../batch/formats.js';
import type { Ahead, Summary } from '../../batch/internal.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { countOf, formatCount, formatMoney, fact, plainText } from './plain-text.js';

const valuesShown = 10;
const indent = ' '.repeat(15);

/** What rows have cost by the values of columns: a line a value, the dearest first. */
export function costsByText({ by = {} }: Pick<Summary['cost'], 'by'>): string[] {
  return Object.entries(by).flatMap(([column, { values, others }]) => {
    const money = (one: ValueSummary): number => one.reported + one.estimated + one.unknown;
    const all = Object.entries(values).sort(([, a], [, b]) => money(b) - money(a));
    const rest = all.slice(valuesShown).map(([, one]) => one);
    const left = rest.length + (others?.values ?? 0);
    const sums = [...rest, ...(others === undefined ? [] : [others])];
    const lines = [
      ...all.slice(0, valuesShown).map(([value, one]) => valueLine(valueName(value), [one])),
      ...(left > 0 ? [valueLine(`${formatCount(left)} others`, sums)] : []),
    ];
    return headed(column, lines);
  });
}

type ValueSummary = NonNullable<Summary['cost']['by']>[string]['values'][string];

function valueLine(name: string, of: readonly ValueSummary[]): string {
  const sum = (part: keyof ValueSummary): number => of.reduce((total, one) => total + one[part], 0);
  const usd = (amount: number): string => formatMoney(toMicroDollars(amount));
  const [completed, failed, held] = [sum('completed'), sum('failed'), sum('held')];
  const parts = [
    `${usd(sum('reported'))} reported`,
    sum('estimated') > 0 && `${usd(sum('estimated'))} estimated`,
    sum('unknown') > 0 && `${usd(sum('unknown'))} in doubt`,
    `${countOf(completed, 'row')} completed`,
    failed - held > 0 && `${formatCount(failed - held)} failed`,
    held > 0 && `${countOf(held, 'row')} in doubt`,
  ];
  return `${name}: ${parts.filter((part) => part !== false).join(', ')}`;
}

/** What a start sends by the values of columns, and how many rows the caps of values leave room for. */
export function aheadByText({ by = [] }: Pick<Ahead, 'by'>): string[] {
  return by.flatMap(({ column, capUsd, values, short, first }) => {
    if (values === 0) return [];
    const cap = capUsd === undefined ? '' : `, at most ${formatMoney(toMicroDollars(capUsd))} each`;
    const left =
      short > 0 && capUsd !== undefined
        ? `: ${countOf(short, 'row')} ${short === 1 ? 'does' : 'do'} not fit`
        : '';
    const lines = first.slice(0, valuesShown).map(({ value, rows, fits, estimated }) => {
      const price = formatMoney(estimated);
      const counted =
        fits < rows
          ? `${formatCount(fits)} of ${countOf(rows, 'row')} fit; all would be ${price}`
          : `${countOf(rows, 'row')}, for ${price}`;
      return `${valueName(value)}: ${counted}`;
    });
    const more = values - lines.length;
    const rest = more > 0 ? [`and ${formatCount(more)} others`] : [];
    return headed(column, [`${countOf(values, 'value')}${cap}${left}`, ...lines, ...rest]);
  });
}

function headed(column: string, [first = '', ...others]: readonly string[]): string[] {
  return [...fact(`by ${plainText(column, 30)}`, first), ...others.map((line) => `${indent}${line}`)];
}

/** A value for people. The NUL stands for values that are not kept apart. */
function valueName(value: string): string {
  if (value === otherValues) return 'others';
  return value === '' ? '(none)' : plainText(value, 60);
}
