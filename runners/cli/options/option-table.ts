import type * as z from 'zod';
import type { OptionValues } from './option-value.js';
import { machinePage, printPage, settlePage, startPage } from './table/command-pages.js';
import { manifestPage } from './table/manifest-page.js';
import { moneyPage } from './table/money-page.js';
import { ratePage } from './table/rate-page.js';
import { emulatorPage, servicePage } from './table/service-page.js';
import type { CommandName, TablePage, OptionRow, Taken } from './table/table-row.js';

/** All options of all commands, in the order in which the help shows them. */
const pages = [
  ...[settlePage, startPage, servicePage, emulatorPage, manifestPage, ratePage, moneyPage],
  ...[machinePage, printPage],
] as const;

/** An option as one command takes it. */
export interface ListedOption extends Taken {
  /** As the code calls it: `maxCost`. */
  readonly name: string;
  readonly row: OptionRow;
  readonly heading?: string;
}

/** The options that a command takes, in the order of the table. */
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

/** Whether a switch is taken as `--no-NAME` as well: the command line undoes what a configuration file says. */
export function isUndone({ takes, config, isOn }: OptionRow): boolean {
  return takes === undefined && config !== undefined && isOn !== true;
}

/** `maxCost` → `max_cost`, as configuration files call it. */
export function settingOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The options that a configuration file may set. None of them sends anything again, or agrees to a price. */
export function configurableOptions(): ListedOption[] {
  return optionsOf('run').filter(({ row }) => row.config !== undefined);
}

/** The values of the options of a command: of each option what its row of the table says. */
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
/** A switch, an option with a default, or one that the command requires. */
type IsSure<Row, C extends CommandName> = Row extends { fallback: unknown }
  ? true
  : Row extends { value: unknown }
    ? Row extends { commands: Readonly<Record<C, { required: true }>> }
      ? true
      : false
    : true;
type Intersection<U> = (U extends unknown ? (u: U) => void : never) extends (i: infer I) => void ? I : never;
type Flat<T> = { [N in keyof T]: T[N] };
