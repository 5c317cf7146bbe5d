import * as z from 'zod';
import { failureCodes } from '../../../src/contract/failure-code.js';
import { mostCostColumns, parseOutputPath } from '../../batch/formats.js';
import { refuse, singleValue } from './single-value.js';

/** Schemas for texts of the command line whose option may be repeated or has a list. */
export const optionValue = {
  ...singleValue,
  /** Names separated by commas; the option may be repeated. */
  names: () =>
    z.array(z.string()).transform((given, context): string[] => {
      const names = given.flatMap((list) => splitNames(list));
      if (names.every((name) => name !== '')) return names;
      return refuse(context, `"${given.join(',')}" has an empty name between its commas`);
    }),
  /** Columns, or `none`. */
  columns: () =>
    optionValue.names().transform((names, context): string[] | null => {
      if (names.length === 1 && names[0] === 'none') return null;
      if (names.length <= mostCostColumns) return [...new Set(names)];
      return refuse(context, `${names.length} columns are too many: up to ${mostCostColumns} are allowed`);
    }),
  /** Paths into the output of a job, or `none`. */
  outputPaths: () =>
    z.array(z.string()).transform((given, context): string[] | null => {
      if (given.length === 1 && given[0] === 'none') return null;
      for (const one of given.map(parseOutputPath)) if ('problem' in one) refuse(context, one.problem);
      return [...new Set(given)];
    }),
  /** `COLUMN=USD` or `COLUMN=none`; the option may be repeated. */
  columnCaps: () =>
    z.array(z.string()).transform((given, context): Record<string, number | null> | null => {
      if (given.length === 1 && given[0] === 'none') return null;
      const amount = singleValue.wordOr('none', singleValue.usd());
      const caps = given.map((cap): [string, number | null] => {
        const at = cap.lastIndexOf('=');
        const parsed = amount.safeParse(cap.slice(at + 1));
        const problem =
          at < 1
            ? `"${cap}" is not of the form COLUMN=USD, such as customer=20`
            : parsed.error?.issues[0]?.message;
        if (problem !== undefined) refuse(context, problem);
        return [cap.slice(0, Math.max(at, 0)), parsed.data === 'none' ? null : (parsed.data ?? null)];
      });
      for (const name of twiceIn(caps)) refuse(context, `"${name}" is given twice; leave one of them`);
      return Object.fromEntries(caps);
    }),
  /** `NAME=VALUE,VALUE…`, with quotes around a value that contains a comma; the option may be repeated. */
  axes: () =>
    z.array(z.string()).transform((given, context): Record<string, readonly string[]> => {
      const pairs = given.map((axis) => {
        const at = axis.indexOf('=');
        const values = at < 1 ? undefined : splitList(axis.slice(at + 1));
        const how = 'is not of the form NAME=VALUE,VALUE, with a value that holds a comma or a quote in "…"';
        if (values === undefined) refuse(context, `"${axis}" ${how}`);
        return [axis.slice(0, at), values ?? []] as const;
      });
      for (const name of twiceIn(pairs))
        refuse(context, `"${name}" is given twice; write all its values in one`);
      return Object.fromEntries(pairs);
    }),
  /** Failure codes, and words that stand for several of them. */
  retryCodes: () =>
    optionValue.names().superRefine((codes, context) => codes.forEach((code) => checkCode(code, context))),
  /** `NAME=VALUE`; the option may be repeated. */
  pairs: (shape: 'NAME=VALUE' | 'NAME=COLUMN') =>
    z.array(z.string()).transform((given, context): Record<string, string> => {
      const pairs = given.map((pair) => {
        const at = pair.indexOf('=');
        if (at < 1) refuse(context, `"${pair}" is not of the form ${shape}`);
        return [pair.slice(0, at), pair.slice(at + 1)] as const;
      });
      for (const name of twiceIn(pairs)) refuse(context, `"${name}" is given twice; leave one of them`);
      return Object.fromEntries(pairs);
    }),
};

export type OptionValues = typeof optionValue;

function twiceIn(pairs: readonly (readonly [name: string, value: unknown])[]): Set<string> {
  const names = pairs.map(([name]) => name);
  return new Set(names.filter((one, index) => names.indexOf(one) < index));
}

/** `"…"` with inner quotes doubled, or a text without commas and without quotes at its ends. */
const listItem = /\s*(?:"((?:[^"]|"")*)"|([^",][^,]*|))\s*(,|$)/y;

/** The items of a list; `undefined` if its quotes do not match. */
function splitList(text: string): string[] | undefined {
  const items: string[] = [];
  for (listItem.lastIndex = 0; ;) {
    const match = listItem.exec(text);
    if (match === null) return undefined;
    const [, quoted, plain = '', end] = match;
    items.push(quoted === undefined ? plain.trim() : quoted.replaceAll('""', '"'));
    if (end === '') return items;
  }
}

/** Names separated by commas. A name such as `style="oil, wet"` may have quotes after its `=`. */
function splitNames(list: string): string[] {
  return (list.match(/(?:^|(?<=,))(?:[^,=]+="(?:[^"]|"")*"(?=,|$)|[^,]*)/g) ?? []).map((item) => {
    const name = item.trim();
    const quoted = /^([^=]+=)"((?:[^"]|"")*)"$/.exec(name);
    return quoted === null ? name : `${quoted[1] ?? ''}${(quoted[2] ?? '').replaceAll('""', '"')}`;
  });
}

const severalCodes = ['failed', 'all'];

function checkCode(code: string, context: z.RefinementCtx): void {
  const codes = Object.entries(failureCodes).flatMap(([name, { scope }]) => (scope === 'row' ? [name] : []));
  if (severalCodes.includes(code) || codes.includes(code)) return;
  const allowed = [...severalCodes, ...codes].join(', ');
  refuse(context, `"${code}" is not a failure code; there are ${allowed}`);
}
