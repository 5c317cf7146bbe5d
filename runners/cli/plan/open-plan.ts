import { resolve } from 'node:path';
import { loadConfig, type Configured } from '../options/load-config.js';
import type { CliIo, RawOptions } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { settingText } from '../messages/plain-text.js';
import type { RunOptions } from '../options/parse-options.js';
import type { SavedPlan, PlanHead } from './saved-plan.js';
import { isDeepStrictEqual } from 'node:util';
import { flagOf, optionsOf } from '../options/option-table.js';
import { serviceSettings } from '../service/service-settings.js';

/**
 * Adds the options of the configuration and of the plan of `--plan`. Throws `UsageError` if the start's own options differ from
 * the plan's.
 */
export async function openPlan(
  manifest: string | undefined,
  raw: RawOptions,
  io: Pick<CliIo, 'cwd' | 'env'>,
): Promise<Pick<Configured, 'raw' | 'from'> & { readonly plan?: SavedPlan }> {
  const { plan: file, ...given } = raw;
  if (typeof file !== 'string') return loadConfig(given, manifest, io);
  const { readPlan } = await import('./saved-plan.js');
  const plan = await readPlan(resolve(io.cwd, file), file);
  const { options, out, prices, caps = {} } = plan.head;
  const configured = await loadConfig(given, manifest ?? plan.head.manifest.path ?? undefined, io);
  const changed = changedOptions(withHosts(configured.raw, io.env), options);
  if (changed.length > 0)
    throw new UsageError(changed, `nothing was sent; leave them out, or plan anew with --save ${file}`);
  const kept = { ...(out !== undefined && { out }), ...(prices !== undefined && { prices }) };
  const agreed = {
    ...capsOf(Object.fromEntries(Object.entries(caps).filter(([name]) => given[name] === undefined))),
    ...options,
  };
  const from = new Map([...configured.from].filter(([name]) => !(name in agreed)));
  const { maxCostFrom, ...others } = configured.raw;
  const own = 'maxCost' in agreed || maxCostFrom === undefined ? others : { ...others, maxCostFrom };
  return { raw: { ...kept, ...own, ...agreed }, from, plan };
}

/** The caps that a plan keeps: those of its command. One of a configuration file is read again by the start. */
export function capsOf({ maxCost, maxCostBy, maxCostFrom }: RawOptions): PlanHead['options'] {
  const given = { ...(maxCostFrom === undefined && { maxCost }), maxCostBy };
  return Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as PlanHead['options'];
}

/** `--limit` counts rows that are still to be done, so a second start would otherwise take other rows than planned. */
export async function withPlannedRows<T extends Pick<RunOptions, 'limit' | 'only'>>(
  options: T,
  plan: SavedPlan,
): Promise<T> {
  if (options.limit === undefined) return options;
  const only: string[] = [];
  for await (const { id } of plan.rows()) only.push(id);
  return { ...options, limit: undefined, only };
}

/** The manifest that a command names, or else the plan's. Throws `UsageError` if there is none. */
export function manifestOf(
  command: 'plan' | 'run',
  given: string | undefined,
  plan: SavedPlan | undefined,
): string {
  const name = given ?? plan?.head.manifest.path;
  if (typeof name === 'string') return name;
  throw new UsageError([
    `missing required argument 'manifest': millrace ${command} <manifest>, or --plan with a saved plan of one`,
  ]);
}

/** The options that decide what is sent, where and at what price. All others may differ in each start from a plan. */
const planned = optionsOf('run').flatMap(({ name, row }) => (row.isPlanned === true ? [name] : []));

/** A plan needs no hosts; without them it allows any. */
const hosts: readonly string[] = ['baseUrl', 'lbBaseUrl'];

/** The options as given, with hosts from the environment if none are given. */
export function withHosts(raw: RawOptions, env: CliIo['env']): RawOptions {
  if (raw['local'] === true) return raw;
  const { baseUrl, lbBaseUrl } = serviceSettings({}, env);
  return { ...(baseUrl && { baseUrl }), ...(lbBaseUrl && { lbBaseUrl }), ...raw };
}

/** The options that a start by the plan must have as well. */
export function plannedOptions(raw: RawOptions): PlanHead['options'] {
  const given = planned.flatMap((name) => (raw[name] === undefined ? [] : [[name, raw[name]] as const]));
  return Object.fromEntries(given) as PlanHead['options'];
}

/** One sentence for each option that differs from the plan's. */
function changedOptions(raw: RawOptions, plan: PlanHead['options']): string[] {
  return planned.flatMap((name) => {
    const [was, is] = [plan[name], raw[name]];
    if (is === undefined || isDeepStrictEqual(is, was)) return [];
    if (was === undefined && hosts.includes(name)) return [];
    return [
      `${flagOf(name)}: the plan was made ${was === undefined ? 'without it' : `with ${settingText(was)}`}, this start has ${settingText(is)}`,
    ];
  });
}
