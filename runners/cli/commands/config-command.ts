import { dirname, resolve } from 'node:path';
import { nodeDisk } from '../../batch/formats.js';
import { peekJournal } from '../../batch/internal.js';
import { loadConfig } from '../options/load-config.js';
import { configurableOptions, settingOf, type ListedOption } from '../options/option-table.js';
import type { CliIo, CommandCall, RawOptions } from '../io/cli-io.js';
import { startOptions } from '../options/parse-options.js';
import { outFolder } from '../options/run-folder.js';
import { inUnits, maskedUrl } from '../options/parse-value.js';
import { plainText, settingText, shownPath } from '../messages/plain-text.js';

interface Setting {
  readonly name: string;
  readonly value: unknown;
  readonly from: string;
}

/** Prints the settings of a run of this manifest, and the source of each value. The key is masked. */
export async function configCommand({
  args: [manifest],
  raw: given,
  io,
}: CommandCall<[string?]>): Promise<number> {
  const { raw, from, files } = await loadConfig(given, manifest, io);
  const options: RawOptions = startOptions('config', raw);
  const cap = given['maxCost'] === undefined ? await rememberedCap(manifest, raw, io) : undefined;
  const settings = [
    keyIn(io, raw, from),
    ...configurableOptions().flatMap((option) =>
      option.name === 'maxCost' && cap !== undefined
        ? [cap]
        : settingInForce(option, { given, raw, options, from }, io),
    ),
  ];
  const { endpoints = {} } = options as { endpoints?: Readonly<Record<string, object>> };
  if (given['json'] === true)
    io.stdout.write(`${JSON.stringify({ files, settings: byName(settings), endpoints })}\n`);
  else io.stdout.write(text(files, settings, endpoints));
  return 0;
}

/** The cap that the manifest's run remembers: it overrides one of the configuration. */
async function rememberedCap(
  manifest: string | undefined,
  { out, local }: RawOptions,
  { cwd }: CliIo,
): Promise<Setting | undefined> {
  if (manifest === undefined) return undefined;
  const path = resolve(cwd, manifest);
  const source = { path, folder: dirname(path) };
  const folder = outFolder(source, typeof out === 'string' ? out : undefined, local === true, cwd);
  const journal = await peekJournal(nodeDisk, folder).catch(() => undefined);
  const { capUsd } = journal?.recovered ?? {};
  if (capUsd === undefined) return undefined;
  const from = `${shownPath(folder, cwd)}, which remembers it`;
  return { name: settingOf('maxCost'), value: String(capUsd ?? 'none'), from };
}

/** The value in force for one option; empty if it has none. */
function settingInForce(
  { name, row }: ListedOption,
  {
    given,
    raw,
    options,
    from,
  }: { given: RawOptions; raw: RawOptions; options: RawOptions; from: ReadonlyMap<string, string> },
  { env }: CliIo,
): Setting[] {
  const setting = settingOf(name);
  const inEnv = row.variable === undefined ? '' : (env[row.variable] ?? '');
  if (given[name] !== undefined)
    return [{ name: setting, value: shownOf(row, given[name]), from: 'the command line' }];
  if (inEnv !== '' && given['local'] !== true)
    return [{ name: setting, value: inEnv, from: row.variable ?? '' }];
  const value = raw[name] ?? options[name];
  if (value === undefined) return [];
  // Durations are ms inside, and are printed as an option takes them.
  const shown = row.takes === 'D' && typeof value === 'number' ? inUnits(value) : shownOf(row, value);
  return [{ name: setting, value: shown, from: from.get(name) ?? 'the default' }];
}

function shownOf({ isSecretAddress }: ListedOption['row'], value: unknown): unknown {
  return isSecretAddress && typeof value === 'string' ? maskedUrl(value) : value;
}

function keyIn({ env }: CliIo, raw: RawOptions, from: ReadonlyMap<string, string>): Setting {
  const name = 'api_key';
  if (raw['local'] === true) return { name, value: 'none is needed', from: '--local' };
  if (typeof raw['apiKeyFile'] === 'string')
    return {
      name,
      value: '********',
      from: `${raw['apiKeyFile']}, by ${from.get('apiKeyFile') ?? 'the command line'}`,
    };
  const isSet = (env['MILLRACE_API_KEY'] ?? '').trim() !== '';
  return { name, value: isSet ? '********' : 'is not set', from: 'MILLRACE_API_KEY' };
}

function byName(settings: readonly Setting[]): Record<string, Omit<Setting, 'name'>> {
  return Object.fromEntries(settings.map(({ name, value, from }) => [name, { value, from }]));
}

function text(
  files: readonly string[],
  settings: readonly Setting[],
  endpoints: Readonly<Record<string, object>>,
): string {
  const lines = [
    `${'files'.padEnd(18)} ${files.length === 0 ? 'none' : files.join(', ')}`,
    ...settings.map(({ name, value, from }) => `${name.padEnd(18)} ${settingText(value).padEnd(28)} ${from}`),
    ...Object.entries(endpoints).map(([name, endpoint]) => `endpoint ${name}: ${JSON.stringify(endpoint)}`),
  ];
  return `${lines.map((line) => plainText(line, 1000)).join('\n')}\n`;
}
