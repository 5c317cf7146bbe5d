import { loadConfig } from '../options/load-config.js';
import { configurable, optionOf, variables } from '../options/configurable.js';
import type { CliIo } from '../io/cli-io.js';
import { parseOptions } from '../options/parse-options.js';
import { runOptionsSchema } from '../options/start-options.js';
import { plainText } from '../messages/plain-text.js';

/** A setting that is in force. */
interface Setting {
  readonly name: string;
  readonly value: unknown;
  readonly from: string;
}

type Raw = Readonly<Record<string, unknown>>;

/** Prints what a run of a manifest would go by, and where each value is from. The key is masked. */
export async function configCommand(manifest: string | undefined, given: Raw, io: CliIo): Promise<number> {
  const { raw, from, files } = await loadConfig(given, manifest, io);
  const options: Raw = parseOptions(runOptionsSchema, raw);
  const settings = [
    keyIn(io, raw, from),
    ...configurable.flatMap((name) => {
      const option = optionOf(name);
      const variable = variables[name];
      const told = variable === undefined || name === 'api_key_file' ? undefined : io.env[variable];
      if (given[option] !== undefined) return [{ name, value: given[option], from: 'the command line' }];
      if (told !== undefined && told !== '' && given['local'] !== true)
        return [{ name, value: told, from: variable ?? '' }];
      const value = raw[option] ?? options[option];
      return value === undefined
        ? []
        : [{ name, value: shownDefault(name, value), from: from.get(option) ?? 'the default' }];
    }),
  ];
  const { endpoints = {} } = options as { endpoints?: Readonly<Record<string, object>> };
  if (given['json'] === true)
    io.stdout.write(`${JSON.stringify({ files, settings: byName(settings), endpoints })}\n`);
  else io.stdout.write(text(files, settings, endpoints));
  return 0;
}

/** Durations are in ms inside, and are written with their unit. */
function shownDefault(name: string, value: unknown): unknown {
  const isDuration = ['runsync_timeout', 'timeout', 'poll_cost'].includes(name) && typeof value === 'number';
  return isDuration ? `${value}ms` : value;
}

function keyIn({ env }: CliIo, raw: Raw, from: ReadonlyMap<string, string>): Setting {
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
    `files      ${files.length === 0 ? 'none' : files.join(', ')}`,
    ...settings.map(({ name, value, from }) => `${name.padEnd(18)} ${shown(value).padEnd(28)} ${from}`),
    ...Object.entries(endpoints).map(([name, endpoint]) => `endpoint ${name}: ${JSON.stringify(endpoint)}`),
  ];
  return `${lines.map((line) => plainText(line, 1000)).join('\n')}\n`;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
