import { Option, type Command } from 'commander';
import { flagOf, isUndone, noFlagOf, optionsOf, type ListedOption } from './option-table.js';
import type { CommandName } from './table/table-row.js';

const unusedHeading = 'Taken as run takes them; a plan does not depend on them:';

/** Declares the options of a command, in the groups in which its help shows them. Values are checked later. */
export function addOptions(command: Command, name: CommandName): Command {
  const options = optionsOf(name);
  const isLong = options.length > 20;
  const sorted = [...options.filter(({ unused }) => !unused), ...options.filter(({ unused }) => unused)];
  for (const option of sorted) {
    const { row, heading, unused, required } = option;
    const value = row.takes === undefined ? '' : ` <${row.takes}>`;
    const flag = row.isOn ? noFlagOf(option.name) : flagOf(option.name);
    const declared = new Option(`${flag}${value}`, describe(option));
    if (row.repeats) declared.argParser(collect);
    if (required) declared.makeOptionMandatory();
    const group = unused ? unusedHeading : heading;
    if (isLong && group !== undefined) declared.helpGroup(group);
    command.addOption(declared);
    if (!isUndone(row)) continue;
    const undoing = new Option(noFlagOf(option.name), 'not so, whatever a configuration file says');
    if (isLong && group !== undefined) undoing.helpGroup(group);
    command.addOption(undoing);
  }
  return command;
}

/** The meaning, and in brackets where the value comes from without the option. A command's own meaning says that itself. */
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

function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
