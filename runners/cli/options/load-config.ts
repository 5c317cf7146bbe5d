import { homedir } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { CliIo, RawOptions } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { type ConfiguredEndpoints, endpointSchema } from './configured-endpoints.js';
import type { OptionRow } from './table/table-row.js';
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { checkEndpointId } from '../../../src/contract/request-parts.js';
import { describeIssue, parseJsonFile } from '../../batch/formats.js';
import { configurableOptions, settingOf, type ListedOption } from './option-table.js';
import { optionValue } from './option-value.js';
import { refuse } from './single-value.js';

/** The options of a call, completed from the configuration files. */
export interface Configured {
  readonly raw: RawOptions;
  /** The file that sets an option, by the option's name. Options of the command line are not included. */
  readonly from: ReadonlyMap<string, string>;
  /** The files that were read, the one with precedence first. */
  readonly files: readonly string[];
}

/**
 * Adds options that neither the command line nor the environment sets: from `millrace.config.json` in the manifest's folder,
 * else from `millrace/config.json` in the user's. Throws `UsageError` for a file that cannot be used.
 */
export async function loadConfig(
  raw: RawOptions,
  manifest: string | undefined,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<Configured> {
  const folder = manifest === undefined || manifest === '-' ? io.cwd : dirname(resolve(io.cwd, manifest));
  const candidates = [join(folder, 'millrace.config.json'), userConfig(io.env)];
  const files = (await Promise.all(candidates.map(readConfigFile))).filter((file) => file !== undefined);
  const endpoints = Object.assign(
    {},
    ...files.toReversed().map((file) => file.endpoints),
  ) as ConfiguredEndpoints;
  const values: Record<string, unknown> = {};
  const from = new Map<string, string>();
  for (const file of files)
    for (const [{ name, row }, given] of file.options) {
      if (raw[name] !== undefined || name in values || isElsewhere(row, raw, io.env)) continue;
      const isPath = row.config === 'path' && typeof given === 'string';
      values[name] = isPath ? resolve(dirname(file.path), given) : given;
      from.set(name, file.path);
    }
  const merged = { ...values, ...raw };
  const host = hostOf(merged, from, endpoints, io.env);
  if (host !== undefined) from.set('lbBaseUrl', `the endpoint ${String(merged['endpoint'])}`);
  const isAsked = raw['runsyncTimeout'] !== undefined;
  return {
    raw: {
      ...merged,
      ...(host !== undefined && { lbBaseUrl: host }),
      ...(from.has('maxCost') && { maxCostFrom: from.get('maxCost') }),
      endpoints: isAsked ? withoutTimeouts(endpoints) : endpoints,
    },
    from,
    files: files.map(({ path }) => path),
  };
}

function userConfig(env: CliIo['env']): string {
  const named = env['XDG_CONFIG_HOME'] ?? '';
  const base = isAbsolute(named) ? named : join(env['HOME'] ?? homedir(), '.config');
  return join(base, 'millrace', 'config.json');
}

/** Whether a file's value does not apply: the environment sets it, or the emulator has its own. */
function isElsewhere(row: OptionRow, raw: RawOptions, env: CliIo['env']): boolean {
  const variable = row.variable ?? row.variableInstead;
  if (variable !== undefined && (env[variable] ?? '') !== '') return true;
  return raw['local'] === true && row.isOfService === true;
}

/**
 * The host of the load-balanced endpoint that `--endpoint` names: it replaces the files' `lb_base_url`, unless the command line or the
 * environment names a host.
 */
function hostOf(
  { endpoint, lbBaseUrl, local }: RawOptions,
  from: ReadonlyMap<string, string>,
  endpoints: ConfiguredEndpoints,
  env: CliIo['env'],
): string | undefined {
  const isGiven = lbBaseUrl !== undefined && !from.has('lbBaseUrl');
  if (isGiven || local === true || (env['MILLRACE_LB_BASE_URL'] ?? '') !== '') return undefined;
  return typeof endpoint === 'string' ? endpoints[endpoint]?.lb_base_url : undefined;
}

/** Drops the endpoints' own timeouts of /runsync: `--runsync-timeout` applies to all endpoints. */
function withoutTimeouts(endpoints: ConfiguredEndpoints): ConfiguredEndpoints {
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, endpoint]) => [
      name,
      { ...endpoint, execution_timeout_ms: undefined },
    ]),
  );
}

export interface ConfigFile {
  readonly path: string;
  /** Its settings, in the form of the command line. */
  readonly options: readonly (readonly [ListedOption, ConfiguredValue])[];
  readonly endpoints: ConfiguredEndpoints;
}

type ConfiguredValue = string | readonly string[] | boolean;

const bySetting = () => new Map(configurableOptions().map((option) => [settingOf(option.name), option]));

/** Created only if there is a file, because its hundreds of schemas take a tenth of a short command's time. */
function fileSchema() {
  return z.strictObject({
    ...Object.fromEntries([...bySetting()].map(([setting, option]) => [setting, settingSchema(option)])),
    endpoints: z
      .record(
        z.string().refine((name) => checkEndpointId(name) === undefined, 'is not a name for an endpoint'),
        endpointSchema(),
      )
      .default({}),
  });
}

/**
 * The schema of a setting: a text or a number; true or false for a switch; a text or a list of texts for an option that may be
 * repeated. Values follow the rules of the command line.
 */
function settingSchema({ row: { value: schema, repeats } }: ListedOption): z.ZodType {
  if (schema === undefined) return z.boolean('is neither true nor false').optional();
  const given = repeats
    ? z.union(
        [z.string().transform((one) => [one]), z.array(z.string())],
        'is neither text nor a list of texts',
      )
    : z.union([z.string(), z.number()], 'is neither text nor a number').transform(String);
  return z.optional(
    given.transform((value: string | string[], context) => {
      const checked = schema(optionValue).safeParse(value);
      return checked.success ? value : refuse(context, checked.error.issues[0]?.message ?? 'is not valid');
    }),
  );
}

const keyNames = ['key', 'api_key', 'apiKey', 'apikey', 'token', 'MILLRACE_API_KEY'];

/** Reads a configuration; `undefined` without one. Throws `UsageError` with every problem, by file and place. */
export async function readConfigFile(path: string): Promise<ConfigFile | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError([`${path}: cannot be read (${code})`]);
  });
  if (text === undefined) return undefined;
  const given = parse(text, path);
  const parsed = fileSchema().safeParse(given);
  if (!parsed.success) throw new UsageError(parsed.error.issues.flatMap((issue) => describe(issue, path)));
  const { endpoints, ...options } = parsed.data;
  return {
    path,
    endpoints,
    options: [...bySetting()].flatMap(([setting, option]) => {
      const value = (options as Record<string, ConfiguredValue | undefined>)[setting];
      return value === undefined ? [] : [[option, value] as const];
    }),
  };
}

/** Of two settings of one name the parser would take the last, such as the higher of two caps. */
function parse(text: string, path: string): unknown {
  const parsed = parseJsonFile(text);
  if ('problem' in parsed) throw new UsageError([`${path}: ${parsed.problem}`]);
  const { value } = parsed;
  const secret =
    typeof value === 'object' && value !== null ? keyNames.find((name) => name in value) : undefined;
  if (secret === undefined) return value;
  throw new UsageError(
    [`${path}: ${secret}: an API key does not belong in a configuration file, which is copied and committed`],
    'set MILLRACE_API_KEY, or name a file that only you can read with "api_key_file"',
  );
}

function describe(issue: z.core.$ZodIssue, path: string): string[] {
  if (issue.code !== 'unrecognized_keys') return [describeIssue(issue, path)];
  const where = [path, ...issue.path.map(String)].join(': ');
  const allowed =
    issue.path.length === 0 ? [...bySetting().keys(), 'endpoints'] : Object.keys(endpointSchema().shape);
  return issue.keys.map(
    (key) => `${where}: there is no setting ${JSON.stringify(key)}; there are ${allowed.join(', ')}`,
  );
}
