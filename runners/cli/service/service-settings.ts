import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { parseHost } from '../options/parse-value.js';
import type { ResolveImage } from '../../batch/formats.js';
import { readFile, stat } from 'node:fs/promises';
import { resolve, sep } from 'node:path';
import { checkApiKey } from '../../../src/contract/request-parts.js';

/** The hosts of requests: {base_url} and {lb_base_url}. The key goes only to these hosts. */
export interface ServiceSettings {
  readonly baseUrl?: string;
  readonly lbBaseUrl?: string;
  /** Warnings to print before the key is sent to the host. */
  readonly warnings: readonly string[];
}

/** The hosts from the options, else from MILLRACE_BASE_URL and MILLRACE_LB_BASE_URL. Throws `UsageError` for an invalid variable. */
export function serviceSettings(
  given: { readonly baseUrl?: string | undefined; readonly lbBaseUrl?: string | undefined },
  env: CliIo['env'],
): ServiceSettings {
  const baseUrl = given.baseUrl ?? fromEnv('MILLRACE_BASE_URL', env);
  const lbBaseUrl = given.lbBaseUrl ?? fromEnv('MILLRACE_LB_BASE_URL', env);
  return {
    ...(baseUrl !== undefined && { baseUrl }),
    ...(lbBaseUrl !== undefined && { lbBaseUrl }),
    warnings: [...new Set([baseUrl, lbBaseUrl].flatMap((url) => warnOfPlainHttp(url) ?? []))],
  };
}

function fromEnv(name: string, env: CliIo['env']): string | undefined {
  const given = env[name];
  if (given === undefined || given === '') return undefined;
  const parsed = parseHost(given);
  if ('problem' in parsed) throw new UsageError([`${name}: ${parsed.problem}`]);
  return parsed.value;
}

function warnOfPlainHttp(url: string | undefined): string | undefined {
  if (url === undefined) return undefined;
  const { protocol, hostname, host } = new URL(url);
  if (protocol === 'https:' || isLoopback(hostname)) return undefined;
  return `WARNING: ${host} is addressed by plain http: the API key and all data cross the network unencrypted`;
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\./.test(hostname)
  );
}

/** The service that a run talks to: the real one, or the emulator in this process. */
export interface Target {
  readonly baseUrl?: string;
  readonly lbBaseUrl?: string;
  readonly apiKey: string;
  readonly local: boolean;
  /** Turns a picture's path into a URL. If absent, paths are refused. */
  readonly resolveImage?: ResolveImage;
  /** The install command for a missing package that image edits need. */
  readonly editsNeed?: string;
  /** Ends the emulator. */
  close(): Promise<void>;
}

/** The API key, and a warning about its file. No message contains the key. */
export interface ApiKey {
  readonly key: string;
  readonly warning?: string;
}

/**
 * The key from `--api-key-file`, or else from MILLRACE_API_KEY. Throws `UsageError` if there is none, the file cannot be read,
 * or its content cannot be a key. (spec 5)
 */
export async function readApiKey(file: string | undefined, io: Pick<CliIo, 'env' | 'cwd'>): Promise<ApiKey> {
  if (file !== undefined) return readKeyFile(file, resolve(io.cwd, file), io.env['CREDENTIALS_DIRECTORY']);
  const key = (io.env['MILLRACE_API_KEY'] ?? '').trim();
  if (key !== '') return { key: checked(key, 'MILLRACE_API_KEY') };
  throw new UsageError(
    ['there is no API key: MILLRACE_API_KEY is not set'],
    'set MILLRACE_API_KEY, name a file with --api-key-file, or rehearse with --local, which needs none',
  );
}

/**
 * @param credentials systemd's folder of a service's credentials. Only the service can enter it; systemd lets its user read a file there
 *   by an access list, which looks like a group that may read.
 */
async function readKeyFile(name: string, path: string, credentials = ''): Promise<ApiKey> {
  try {
    const key = (await readFile(path, 'utf8')).trim();
    if (key === '') throw new UsageError([`--api-key-file: "${name}" is empty`]);
    const { mode } = await stat(path);
    const isOfService = credentials !== '' && path.startsWith(`${resolve(credentials)}${sep}`);
    const open = process.platform !== 'win32' && !isOfService && (mode & 0o077) !== 0;
    return {
      key: checked(key, `--api-key-file: "${name}"`),
      ...(open && { warning: `warning: the key file "${name}" can be read by others: chmod 600 "${name}"` }),
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError([
      `--api-key-file: "${name}" cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    ]);
  }
}

/** Refuses text that cannot be a key, such as several lines. The message never quotes it. */
function checked(key: string, source: string): string {
  const problem = checkApiKey(key);
  if (problem === undefined) return key;
  throw new UsageError([`${source} holds no key: it ${problem}`]);
}
