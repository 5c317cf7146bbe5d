import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { parseHost } from '../options/parse-value.js';
import type { ResolveImage } from '../../batch/formats.js';

/** Where requests go: {base_url} and {lb_base_url}. The key goes to these hosts and to no other. */
export interface ServiceSettings {
  readonly baseUrl?: string;
  readonly lbBaseUrl?: string;
  /** Warnings to print before the key is sent there. */
  readonly warnings: readonly string[];
}

/** The hosts of the options, else of MILLRACE_BASE_URL and MILLRACE_LB_BASE_URL. Throws `UsageError` for a bad variable. */
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
  /** Turns a picture's path into a URL; absent: paths are refused. */
  readonly resolveImage?: ResolveImage;
  /** The package that image edits need and that is not installed, with the command that installs it. */
  readonly editsNeed?: string;
  /** Ends the emulator. */
  close(): Promise<void>;
}
