import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { checkEndpointId } from '../../../src/contract/request-parts.js';
import { UsageError } from '../io/usage-error.js';
import { configuredEndpointSchema, type ConfiguredEndpoints } from './configured-endpoints.js';
import { configurableOptions, settingOf, type ListedOption } from './option-table.js';
import { schemaOf } from './parse-options.js';

/** A configuration file, checked. */
export interface ConfigFile {
  readonly path: string;
  /** What it sets, as the command line would give it. */
  readonly options: readonly (readonly [ListedOption, ConfiguredValue])[];
  readonly endpoints: ConfiguredEndpoints;
}

type ConfiguredValue = string | readonly string[] | boolean;

const bySetting = new Map(configurableOptions().map((option) => [settingOf(option.name), option]));

const fileSchema = z.strictObject({
  ...Object.fromEntries([...bySetting].map(([setting, option]) => [setting, settingSchema(option)])),
  endpoints: z
    .record(
      z.string().refine((name) => checkEndpointId(name) === undefined, 'is no name for an endpoint'),
      configuredEndpointSchema,
    )
    .default({}),
});

/** A text or a number, of a switch true or false; where an option may be repeated, a list of texts or one text. The same rules as on the command line. */
function settingSchema(option: ListedOption): z.ZodType {
  if (option.row.takes === undefined) return z.boolean('is neither true nor false').optional();
  const given = option.row.repeats
    ? z.union([z.string().transform((one) => [one]), z.array(z.string())])
    : z.union([z.string(), z.number()]).transform(String);
  return z.optional(
    given.transform((value: string | string[], context) => {
      const checked = schemaOf(option).safeParse(value);
      if (checked.success) return value;
      context.addIssue({ code: 'custom', message: checked.error.issues[0]?.message ?? 'is not valid' });
      return z.NEVER;
    }),
  );
}

const keyNames = ['key', 'api_key', 'apiKey', 'apikey', 'token', 'MILLRACE_API_KEY'];

/** Reads a configuration; `undefined`: there is none. Throws `UsageError` with every problem, by file and place. */
export async function readConfigFile(path: string): Promise<ConfigFile | undefined> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const { code = 'error' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new UsageError([`${path}: cannot be read (${code})`]);
  });
  if (text === undefined) return undefined;
  const given = parse(text, path);
  const parsed = fileSchema.safeParse(given);
  if (!parsed.success) throw new UsageError(parsed.error.issues.flatMap((issue) => describe(issue, path)));
  const { endpoints, ...options } = parsed.data;
  return {
    path,
    endpoints,
    options: [...bySetting].flatMap(([setting, option]) => {
      const value = (options as Record<string, ConfiguredValue | undefined>)[setting];
      return value === undefined ? [] : [[option, value] as const];
    }),
  };
}

function parse(text: string, path: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The error of the parser quotes the file, and there may be a key in it.
    throw new UsageError([`${path}: is no JSON`]);
  }
  const secret =
    typeof value === 'object' && value !== null ? keyNames.find((name) => name in value) : undefined;
  if (secret === undefined) return value;
  throw new UsageError(
    [`${path}: ${secret}: an API key does not belong in a configuration file, which is copied and committed`],
    'set MILLRACE_API_KEY, or name a file that only you can read with "api_key_file"',
  );
}

function describe(issue: z.core.$ZodIssue, path: string): string[] {
  const where = [path, ...issue.path.map(String)].join(': ');
  if (issue.code !== 'unrecognized_keys') return [`${where}: ${issue.message}`];
  const allowed =
    issue.path.length === 0
      ? [...bySetting.keys(), 'endpoints']
      : Object.keys(configuredEndpointSchema.shape);
  return issue.keys.map((key) => `${where}: ${key}: there is no such setting: ${allowed.join(', ')} are`);
}
