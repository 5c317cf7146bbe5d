import {
  describeProblem,
  describeSame,
  listPrices,
  shellWords,
  type Plan,
  type PriceTable,
} from '../../batch/formats.js';
import { toUsd, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { countOf, formatCount, formatMoney, fact, plainText } from './plain-text.js';

/** A plan for people: the manifest's content, what is sent, and warnings. The caller adds the price. */
export function planText(plan: Plan, name: string): string[] {
  const kinds = Object.entries(plan.byKind).filter(([, count]) => count > 0);
  const resolutions = Object.entries(plan.byResolution).filter(([, count]) => count > 0);
  return [
    `${name}: ${countOf(plan.rows, 'row')}${plan.invalid > 0 ? `, ${plan.rows === 1 ? 'which is' : `${formatCount(plan.invalid)} of them`} invalid` : ''}`,
    ...fact('kinds', counted(kinds)),
    ...fact('resolutions', counted(resolutions)),
    ...fact('other', otherText(plan)),
    ...matrixText(plan.matrix),
    ...fact('priority', prioritiesText(plan.priorities)),
    ...fact(
      'repeats',
      plan.repeats > 0 &&
        `${countOf(plan.repeats, 'row that repeats', 'rows that repeat')} the request of an earlier row; each is bought`,
    ),
    ...fact('ids', derivedText(plan)),
    ...fact(
      'many images',
      plan.imagesBeyondRecommended > 0 &&
        `${countOf(plan.imagesBeyondRecommended, 'row')} with more than the recommended 1 to 3`,
    ),
    ...fact('columns', plan.separatedBy !== undefined && `separated by ${plan.separatedBy}`),
    ...(plan.same === undefined || plan.same.rows === 0 ? [] : fact('same', ...sameFacts(plan.same))),
    ...columnsText(plan),
    ...plan.warnings.map((warning) => `  warning: ${plainText(warning)}`),
  ];
}

function otherText({ byResolution: { other = 0 } }: Plan): string {
  if (other === 0) return '';
  return `${countOf(other, 'job')} with a resolution that has no price; the highest price of ${other === 1 ? 'its' : 'their'} endpoint is taken`;
}

/** Such a row has no name that outlives an edit, so a person has to know. */
function derivedText({ derivedIds = 0 }: Plan): string {
  if (derivedIds === 0) return '';
  return `${countOf(derivedIds, 'row has', 'rows have')} none: each is named by its request, and is a new row once that changes`;
}

function columnsText({ columnsSent, columnsNotSent, columnsFilledIn = [] }: Plan): string[] {
  const named = (columns: readonly string[]): string =>
    columns.map((column) => plainText(column, 60)).join(', ');
  const filledIn = named(columnsFilledIn);
  const isOurs = (column: string) => /^redo(\.|$)/.test(column) || columnsFilledIn.includes(column);
  return [
    ...fact('sent', named(columnsSent)),
    ...fact('filled in', filledIn !== '' && `${filledIn}, by --set`),
    ...fact('not sent', named(columnsNotSent.filter((column) => !isOurs(column)))),
    ...fact(
      'redo',
      columnsNotSent.includes('redo') &&
        'its rows are bought again; with --out of their run, in place of the results that they name',
    ),
  ];
}

const valuesShown = 12;
const levelsShown = 4;

/** The product of the axes, and a line for each axis with the cost of its values. */
function matrixText(matrix: Plan['matrix']): string[] {
  if (matrix === undefined) return [];
  const { sources, rows, alone, axes } = matrix;
  const product = [
    countOf(sources, 'row'),
    ...axes.map(({ name, values }) => `${values.length} ${plainText(name, 40)}`),
  ];
  const as = alone > 0 ? `; ${countOf(alone, 'row stays', 'rows stay')} one row each` : '';
  return [
    ...fact('matrix', `${product.join(' × ')} = ${countOf(rows, 'row')}${as}`),
    ...axes.flatMap(({ name, values }) => {
      const shown = values.slice(0, valuesShown).map((value) => valueText(value));
      const more =
        values.length > shown.length ? `, and ${formatCount(values.length - shown.length)} more` : '';
      return fact(`by ${plainText(name, 40)}`, `${shown.join(', ')}${more}`);
    }),
  ];
}

/** The rows of each priority, the highest first. */
function prioritiesText(priorities: Plan['priorities'] = []): string {
  const found = priorities.filter(({ rows }) => rows > 0);
  const shown = found
    .slice(0, levelsShown)
    .map(({ priority, rows, ...cost }) => `${formatCount(rows)} at ${priority}${knownPrice(cost)}`);
  const rest = found.slice(levelsShown).reduce((sum, { rows }) => sum + rows, 0);
  if (rest > 0) shown.push(`${formatCount(rest)} at ${countOf(found.length - levelsShown, 'lower one')}`);
  return shown.length === 0 ? '' : `first ${shown.join(', then ')}`;
}

function knownPrice(cost: Plan['cost']): string {
  return cost.estimated === 0 && cost.unpriced > 0 ? '' : ` (${priceText(cost)})`;
}

function valueText({
  value,
  rows,
  ...cost
}: NonNullable<Plan['matrix']>['axes'][number]['values'][number]): string {
  return `${plainText(value, 40)} ${formatCount(rows)}${knownPrice(cost)}`;
}

const sameShown = 5;

/** How many rows ask for what another row of the manifest asks for, and the first of them, a line each. */
export function sameFacts({ rows, cost, first }: NonNullable<Plan['same']>): [string, string[]] {
  return [
    `${countOf(rows, 'row asks', 'rows ask')} for exactly what another row asks for, each is bought: ${priceText(cost)}`,
    describeSame({ rows, cost, first: first.slice(0, sameShown) }).map((line) => plainText(line)),
  ];
}

/** A price in a few words, and what it does not include. */
export function priceText({ estimated, unpriced }: Plan['cost'], isRehearsal = false): string {
  if (isRehearsal) return `rehearsal, nothing spent; a real run: ${priceText({ estimated, unpriced })}`;
  const open = unpriced > 0 ? `${countOf(unpriced, 'row')} of no known price` : '';
  if (open === '') return formatMoney(estimated);
  return estimated === 0 ? open : `${formatMoney(estimated)} and ${open}`;
}

/** The problems of invalid rows, grouped: lines that begin with file and line, and the number of similar rows. */
export function invalidText({ problems, otherProblems }: Plan, name: string): string[] {
  return [
    ...problems.flatMap((problem) => {
      const [first = '', ...others] = describeProblem(problem);
      return [`${name}, ${first}`, ...others];
    }),
    ...(otherProblems > 0 ? [`… and ${countOf(otherProblems, 'further problem')}`] : []),
  ];
}

/** What `plan --json` prints: money in USD. */
export function planJson(plan: Plan): Record<string, unknown> {
  return {
    rows: plan.rows,
    byKind: plan.byKind,
    byResolution: plan.byResolution,
    repeats: plan.repeats,
    invalid: plan.invalid,
    cost: usdOf(plan.cost),
    firstInvalid: plan.firstInvalid.map(({ row, line, id, problems }) => ({ row, line, id, problems })),
    problems: plan.problems.map(({ first, ...rest }) => ({ ...first.problems[0], ...rest })),
    warnings: plan.warnings,
    ...(plan.separatedBy && { separatedBy: plan.separatedBy }),
    columnsSent: plan.columnsSent,
    columnsNotSent: plan.columnsNotSent,
    ...(plan.columnsFilledIn && { columnsFilledIn: plan.columnsFilledIn }),
    imagesBeyondRecommended: plan.imagesBeyondRecommended,
    ...(plan.matrix && { matrix: matrixJson(plan.matrix) }),
    ...(plan.priorities && {
      priorities: plan.priorities.map(({ priority, rows, ...cost }) => ({
        priority,
        rows,
        cost: usdOf(cost),
      })),
    }),
    ...(plan.same && { same: { ...plan.same, cost: usdOf(plan.same.cost) } }),
  };
}

function matrixJson({ axes, ...counts }: NonNullable<Plan['matrix']>): object {
  const priced = axes.map(({ name, values }) => ({
    name,
    values: values.map(({ value, rows, ...cost }) => ({ value, rows, cost: usdOf(cost) })),
  }));
  return { ...counts, axes: priced };
}

/** Where a person decides about rows in doubt. */
export function settleText(folder: string, isRehearsal = false): string {
  return `${isRehearsal ? 'in a real run, ' : ''}look at the account; \`${shellWords('millrace', 'settle', folder)}\` lists the ways to decide`;
}

/** As JSON; money in USD. */
export function usdOf({ estimated, unpriced }: Plan['cost']): Plan['cost'] {
  return { estimated: toUsd(estimated), unpriced };
}

function counted(entries: readonly [string, number][]): string {
  return entries.map(([name, count]) => `${plainText(name, 40)} ${formatCount(count)}`).join(', ');
}

/** The prices in force and their source, in one line. */
export function priceTableText(table: PriceTable): string {
  const { name, prices } = listPrices(table);
  const listed = Object.entries(prices).map(
    ([label, usd]) => `${plainText(label, 80)} ${formatMoney(toMicroDollars(usd))}`,
  );
  return `${listed.join(', ')} (${plainText(name, 80)})`;
}

/** What is reserved for a row instead of the price: what such a purchase has cost, as reported or as typed in `settle --paid`. */
export function reservedText(table: PriceTable): string[] {
  const costs = Object.entries(listPrices(table).reserved).map(
    ([label, usd]) => `${plainText(label, 80)} ${formatMoney(toMicroDollars(usd))}`,
  );
  return fact('reserved', costs.length === 0 ? '' : `${costs.join(', ')}: the highest cost so far`);
}
