import { resolve } from 'node:path';
import { loadConfig } from '../config/load-config.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { changedOptions, withHosts, withPlannedOptions } from './planned-options.js';
import { readPlan, type SavedPlan } from './read-plan.js';

/** The options of a start, and the plan that it goes by. */
export interface PlannedStart {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly plan?: SavedPlan;
}

/** Reads the configuration and the plan of `--plan`, and takes their options. Throws `UsageError` where the start gives others. */
export async function openPlan(
  manifest: string | undefined,
  raw: Readonly<Record<string, unknown>>,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<PlannedStart> {
  const { plan: file, ...given } = raw;
  if (typeof file !== 'string') return loadConfig(given, manifest, io);
  const plan = await readPlan(resolve(io.cwd, file), file);
  const { options } = plan.head;
  const configured = await loadConfig(given, manifest ?? plan.head.manifest.path ?? undefined, io);
  const changed = changedOptions(withHosts(configured.raw, io.env), options);
  if (changed.length > 0)
    throw new UsageError(changed, `nothing was sent; leave them out, or plan anew with --save ${file}`);
  return { raw: withPlannedOptions(configured.raw, options), plan };
}
