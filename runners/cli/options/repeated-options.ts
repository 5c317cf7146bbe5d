import { resolve } from 'node:path';
import { flagOf, noFlagOf, optionsOf, type ListedOption } from './option-table.js';

type Raw = Readonly<Record<string, unknown>>;

/**
 * The options of a start that a later start of the same run needs as well, as words of a command line. What a configuration
 * file says is found there again. Paths become absolute, and a password is left out: the words stand in the journal.
 *
 * @param raw as the command line and a saved plan gave them
 * @param from the configuration file that an option is from, by its name
 */
export function repeatedOptions(
  raw: Raw,
  from: ReadonlyMap<string, string>,
  cwd: string,
): { manifest: string[]; others: string[] } {
  const given = optionsOf('run').filter(({ name, row }) => row.isOnce !== true && !from.has(name));
  const wordsOf = (ofManifest: boolean): string[] =>
    given
      .filter(({ row }) => (row.isOfManifest === true) === ofManifest)
      .flatMap((option) => optionWords(option, raw[option.name], cwd));
  return { manifest: wordsOf(true), others: wordsOf(false) };
}

function optionWords({ name, row }: ListedOption, value: unknown, cwd: string): string[] {
  const flag = flagOf(name);
  if (value === false) return [noFlagOf(name)];
  if (value === true) return row.isOn === true ? [] : [flag];
  const values = Array.isArray(value) ? (value as unknown[]) : [value];
  return values
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .flatMap((one) => [flag, shown(row, String(one), cwd)]);
}

function shown(row: ListedOption['row'], value: string, cwd: string): string {
  return row.takes === 'FILE' ? resolve(cwd, value) : withoutPassword(value);
}

/** The address of a database: a command without the password goes by PGPASSWORD or ~/.pgpass. */
function withoutPassword(address: string): string {
  if (!/^postgres(ql)?:/.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password === '' && !url.searchParams.has('password')) return address;
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}
