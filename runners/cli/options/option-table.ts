import type * as z from 'zod';
import type { OptionValues } from './option-value.js';
import { machinePage, printPage, startPage } from './table/command-pages.js';
import { manifestPage } from './table/manifest-page.js';
import { moneyPage } from './table/money-page.js';
import { ratePage } from './table/rate-page.js';
import { emulatorPage, servicePage } from './table/service-page.js';
import { settlePage } from './table/settle-page.js';
import type { CommandName, TablePage, OptionRow, Taken } from './table/table-row.js';
import { UsageError } from '../io/usage-error.js';
import { Option, type Command } from 'commander';

/** All options of all commands, in the order of the help. */
const pages = [
  ...[settlePage, startPage, servicePage, emulatorPage, manifestPage, ratePage, moneyPage],
  ...[machinePage, printPage],
] as const;

export interface ListedOption extends Taken {
  /** Its name in the code: `maxCost`. */
  readonly name: string;
  readonly row: OptionRow;
  readonly heading?: string;
}

export function optionsOf(command: CommandName): ListedOption[] {
  return pages.flatMap(({ heading, rows }: TablePage) =>
    Object.entries(rows).flatMap(([name, row]): ListedOption[] => {
      const taken = row.commands[command];
      if (taken === undefined) return [];
      return [{ name, row, ...(heading !== undefined && { heading }), ...(taken !== true && taken) }];
    }),
  );
}

/** `maxCost` → `--max-cost`. */
export function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `lowPriority` → `--no-low-priority`. */
export function noFlagOf(name: string): string {
  return flagOf(name).replace('--', '--no-');
}

/** Whether a switch also exists as `--no-NAME`, which overrides a configuration file. */
export function isUndone({ takes, config, isOn }: OptionRow): boolean {
  return takes === undefined && config !== undefined && isOn !== true;
}

/** `maxCost` → `max_cost`, its name in configuration files. */
export function settingOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The options that a configuration file may set: never those that send something again or agree to a price. */
export function configurableOptions(): ListedOption[] {
  return optionsOf('run').filter(({ row }) => row.config !== undefined);
}

export type NamesWith<Flag extends keyof OptionRow> = NamesIn<(typeof pages)[number]['rows'], Flag>;
type NamesIn<Rows, Flag extends keyof OptionRow> = Rows extends unknown
  ? { [N in keyof Rows]: Rows[N] extends Readonly<Record<Flag, true>> ? N : never }[keyof Rows]
  : never;

/** The values of a command's options, typed by the rows of the table. */
export type OptionsOf<C extends CommandName> = Flat<
  Intersection<ValuesIn<(typeof pages)[number]['rows'], C>>
>;

type ValuesIn<Rows, C extends CommandName> = Rows extends unknown
  ? {
      readonly [
        N in keyof Rows as IsTaken<Rows[N], C> extends true
          ? IsSure<Rows[N], C> extends true
            ? N
            : never
          : never
      ]: ValueOf<Rows[N]>;
    } & {
      readonly [
        N in keyof Rows as IsTaken<Rows[N], C> extends true
          ? IsSure<Rows[N], C> extends true
            ? never
            : N
          : never
      ]?: ValueOf<Rows[N]> | undefined;
    }
  : never;
type ValueOf<Row> = Row extends { value: (values: OptionValues) => infer V extends z.ZodType }
  ? z.output<V>
  : boolean;
type IsTaken<Row, C extends CommandName> = Row extends { commands: Readonly<Record<C, unknown>> }
  ? true
  : false;
/** Whether an option always has a value: a switch, or an option that has a default or is required. */
type IsSure<Row, C extends CommandName> = Row extends { fallback: unknown }
  ? true
  : Row extends { value: unknown }
    ? Row extends { commands: Readonly<Record<C, { required: true }>> }
      ? true
      : false
    : true;
type Intersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never;
type Flat<T> = { [N in keyof T]: T[N] };

const unusedHeading = 'Taken as run takes them; a plan does not depend on them:';

/**
 * Declares the options of a command, in the groups of its help. Values are checked later.
 *
 * @param argv the command line: if it has only flags of this command, only these options are declared, not all hundred
 */
export function addOptions(command: Command, name: CommandName, argv?: readonly string[]): Command {
  const all = optionsOf(name);
  const options = (argv && namedBy(argv, all)) ?? all;
  const isLong = options.length > 20;
  const sorted = [...options.filter(({ unused }) => !unused), ...options.filter(({ unused }) => unused)];
  for (const option of sorted) {
    const { row, heading, unused, required } = option;
    const value = row.takes === undefined ? '' : ` <${row.takes}>`;
    const flag = row.isOn ? noFlagOf(option.name) : flagOf(option.name);
    const declared = new Option(`${flag}${value}`, describe(option));
    if (row.repeats) declared.argParser(collect);
    else if (row.takes !== undefined)
      declared.argParser((value: string, before) => once(flag, value, before));
    if (required) declared.makeOptionMandatory();
    const group = unused ? unusedHeading : heading;
    if (isLong && group !== undefined) declared.helpGroup(group);
    command.addOption(declared);
    if (!isUndone(row)) continue;
    const undoing = new Option(noFlagOf(option.name), 'off, whatever a configuration file says');
    if (isLong && group !== undefined) undoing.helpGroup(group);
    command.addOption(undoing);
  }
  return command;
}

/** The options whose flags a command line has, and the required ones; `undefined` if a flag is unknown. */
function namedBy(argv: readonly string[], options: readonly ListedOption[]): ListedOption[] | undefined {
  const flags = new Set(argv.filter((word) => /^-./.test(word)).map((word) => word.split('=', 1)[0] ?? ''));
  const isNamed = ({ name, required }: ListedOption): boolean =>
    [flagOf(name), noFlagOf(name)].map((flag) => flags.delete(flag)).includes(true) || required === true;
  const named = options.filter(isNamed);
  return flags.size === 0 ? named : undefined;
}

/** The meaning, followed by the default in brackets. A command's own meaning includes its default. */
function describe({ row, meaning }: ListedOption): string {
  const { variable, variableInstead, repeats, fallback } = row;
  const otherwise = meaning === undefined ? row.otherwise : undefined;
  const usual = otherwise ?? (typeof fallback === 'string' ? fallback : undefined);
  const sources = [
    ...(variable === undefined ? [] : [`env ${variable}`]),
    ...(variableInstead === undefined ? [] : [`else env ${variableInstead}`]),
    ...(usual === undefined ? [] : [`default: ${usual}`]),
  ];
  const more = repeats ? '; may be repeated' : '';
  return `${meaning ?? row.meaning}${more}${sources.length === 0 ? '' : ` (${sources.join('; ')})`}`;
}

/** Of two values commander would take the last, such as the higher of two caps. The values are not printed: one may be a secret. */
function once(flag: string, value: string, before: unknown): string {
  if (typeof before !== 'string' || before === value) return value;
  throw new UsageError([`${flag}: is given twice, with different values; leave one of them`]);
}

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
