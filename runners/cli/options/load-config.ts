import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { CliIo } from '../io/cli-io.js';
import { readConfigFile } from './config-file.js';
import type { ConfiguredEndpoints } from './configured-endpoints.js';
import type { OptionRow } from './table/table-row.js';

type Raw = Readonly<Record<string, unknown>>;

/** The options of a call, completed from the configuration files. */
export interface Configured {
  readonly raw: Raw;
  /** The file that an option is from, by the option's name; options of the command line are absent. */
  readonly from: ReadonlyMap<string, string>;
  /** The files that were read, the one that wins first. */
  readonly files: readonly string[];
}

/**
 * Adds options that neither the command line nor the environment sets: from `millrace.config.json` in the manifest's folder,
 * else from `millrace/config.json` in the user's. Throws `UsageError` for a file that cannot be used.
 */
export async function loadConfig(
  raw: Raw,
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
  const base = env['XDG_CONFIG_HOME'];
  return join(
    base === undefined || base === '' ? join(env['HOME'] ?? homedir(), '.config') : base,
    'millrace',
    'config.json',
  );
}

/** Whether a file's value does not apply: the environment sets it, or the emulator has its own. */
function isElsewhere(row: OptionRow, raw: Raw, env: CliIo['env']): boolean {
  const variable = row.variable ?? row.variableInstead;
  if (variable !== undefined && (env[variable] ?? '') !== '') return true;
  return raw['local'] === true && row.isOfService === true;
}

/** The host of a load-balanced endpoint that is named for all rows, over the one that files have for all endpoints. */
function hostOf(
  { endpoint, lbBaseUrl, local }: Raw,
  from: ReadonlyMap<string, string>,
  endpoints: ConfiguredEndpoints,
  env: CliIo['env'],
): string | undefined {
  const isGiven = lbBaseUrl !== undefined && !from.has('lbBaseUrl');
  if (isGiven || local === true || (env['MILLRACE_LB_BASE_URL'] ?? '') !== '') return undefined;
  return typeof endpoint === 'string' ? endpoints[endpoint]?.lb_base_url : undefined;
}

/** Without their own timeouts of /runsync: `--runsync-timeout` holds for all endpoints. */
function withoutTimeouts(endpoints: ConfiguredEndpoints): ConfiguredEndpoints {
  const entries = Object.entries(endpoints).map(([name, endpoint]) => {
    const { id, lb_base_url, mode, price } = endpoint;
    const kept = { id, lb_base_url, mode, price };
    return [name, kept] as const;
  });
  return Object.fromEntries(entries);
}
