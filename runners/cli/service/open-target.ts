import type { Plan } from '../../batch/formats.js';
import type { CliIo, FaultContext } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { readApiKey, serviceSettings, type Target } from './service-settings.js';
import type { RunOptions } from '../options/parse-options.js';
import type { Transport } from '../../../src/transport/transport.js';

/**
 * Finds the hosts and the key of the real service, or starts the emulator, which serves the pictures of `folder`. Throws
 * `UsageError` if something is missing.
 */
export async function openTarget(
  options: RunOptions,
  folder: string,
  io: CliIo,
  fault: FaultContext,
): Promise<Target> {
  if (options.local) {
    const { startRehearsal } = await import('./start-rehearsal.js');
    return startRehearsal(options, folder, io.cwd);
  }
  const service = await openService(
    options,
    io,
    fault,
    'name the host of the queue API, or rehearse with --local',
  );
  return { ...service, local: false, close: () => Promise.resolve() };
}

/** The hosts and the key of the real service. Prints warnings about them. Throws `UsageError` if something is missing. */
export async function openService(
  options: Pick<RunOptions, 'baseUrl' | 'lbBaseUrl' | 'apiKeyFile'>,
  io: CliIo,
  fault: FaultContext,
  hint?: string,
): Promise<Pick<Target, 'baseUrl' | 'lbBaseUrl' | 'apiKey'>> {
  const { warnings, ...hosts } = serviceSettings(options, io.env);
  if (hosts.baseUrl === undefined && hosts.lbBaseUrl === undefined)
    throw new UsageError(['no service is named: neither --base-url nor MILLRACE_BASE_URL is set'], hint);
  const { key, warning } = await readApiKey(options.apiKeyFile, io);
  fault.secrets.push(key);
  for (const text of [...warnings, ...(warning === undefined ? [] : [warning])]) io.stderr.write(`${text}\n`);
  return { ...hosts, apiKey: key };
}

/** Throws `UsageError` if the host for a kind of row is missing, or the emulator lacks a package that edits need. */
export function requireHosts(plan: Plan, target: Target): void {
  const needsBase = plan.byKind.edit + plan.byKind.job > 0;
  const needsRoutes = plan.byKind.route > 0;
  if (needsBase && target.baseUrl === undefined) {
    throw new UsageError([
      'edits and jobs need the host of the queue API: set --base-url or MILLRACE_BASE_URL',
    ]);
  }
  if (plan.byKind.edit > 0 && target.editsNeed !== undefined) throw new UsageError([target.editsNeed]);
  if (needsRoutes && target.lbBaseUrl === undefined) {
    throw new UsageError(['routes need their host: set --lb-base-url or MILLRACE_LB_BASE_URL']);
  }
}

/**
 * The transport of `--http`; `undefined` for got, the runner's own.
 * @throws {UsageError} if undici is asked for and not installed
 */
export async function pickTransport(http: 'got' | 'undici'): Promise<Transport | undefined> {
  if (http === 'got') return undefined;
  try {
    const { createUndiciTransport } = await import('../../../src/transport/undici/undici-transport.js');
    return createUndiciTransport();
  } catch (error) {
    // The built command line loads it as CommonJS, which has a code of its own.
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'].includes(code)) throw error;
    throw new UsageError(['--http undici needs a package that is not installed: npm i undici']);
  }
}
