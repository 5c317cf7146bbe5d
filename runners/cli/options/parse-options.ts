import * as z from 'zod';
import { UsageError } from '../io/usage-error.js';
import { flagOf, optionsOf, type ListedOption, type OptionsOf } from './option-table.js';
import { optionValue } from './option-value.js';
import type { CommandName } from './table/table-row.js';

/** The options of one command, checked: every wrong one is named at once, each with what is allowed. Throws `UsageError`. */
export function parseOptions<T>(schema: z.ZodType<T>, raw: Readonly<Record<string, unknown>>): T {
  // Zod compiles a schema for values that come again; options come once.
  const parsed = schema.safeParse(raw, { jitless: true });
  if (parsed.success) return parsed.data;
  throw new UsageError(parsed.error.issues.map(describe));
}

/** The options of a command as the table has them. Throws `UsageError`. */
export function commandOptions<C extends CommandName>(
  command: C,
  raw: Readonly<Record<string, unknown>>,
): OptionsOf<C> {
  return parseOptions(z.object(shapeOf(command)) as unknown as z.ZodType<OptionsOf<C>>, raw);
}

/** A schema for each option of a command, with its default. */
export function shapeOf(command: CommandName): Record<string, z.ZodType> {
  return Object.fromEntries(optionsOf(command).map((option) => [option.name, schemaOf(option)]));
}

/** What a value of an option may be, from the text of the command line or of a configuration file. */
export function schemaOf({ row, required }: Pick<ListedOption, 'row' | 'required'>): z.ZodType {
  const { value } = row;
  if (value === undefined) return z.boolean().default(row.isOn === true);
  if (row.fallback !== undefined) return value(optionValue).prefault(row.fallback);
  return required === true ? value(optionValue) : value(optionValue).optional();
}

function describe(issue: z.core.$ZodIssue): string {
  const [name] = issue.path;
  return name === undefined ? issue.message : `${flagOf(String(name))}: ${issue.message}`;
}
