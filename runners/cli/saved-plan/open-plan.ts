import { resolve } from 'node:path';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { changedOptions, withHosts, withPlannedOptions } from './planned-options.js';
import { readPlan, type SavedPlan } from './read-plan.js';

/** The options of a start, and the plan that it goes by. */
export interface PlannedStart {
  readonly raw: Readonly<Record<string, unknown>>;
  readonly plan?: SavedPlan;
}

/** Reads the plan of `--plan`, and takes its options. Throws `UsageError` where the start gives others. */
export async function openPlan(
  raw: Readonly<Record<string, unknown>>,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<PlannedStart> {
  const { plan: file, ...given } = raw;
  if (typeof file !== 'string') return { raw: given };
  const plan = await readPlan(resolve(io.cwd, file), file);
  const { options } = plan.head;
  const changed = changedOptions(withHosts(given, io.env), options);
  if (changed.length > 0)
    throw new UsageError(changed, `nothing was sent; leave them out, or plan anew with --save ${file}`);
  return { raw: withPlannedOptions(given, options), plan };
}
