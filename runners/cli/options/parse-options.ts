import type { RawOptions } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import { flagOf, optionsOf, type ListedOption, type OptionsOf } from './option-table.js';
import { optionValue } from './option-value.js';
import type { CommandName } from './table/table-row.js';
import type { ConfiguredEndpoints } from './configured-endpoints.js';
import { emulatorPage } from './table/service-page.js';

/** The options of a command, checked against the table. Throws `UsageError` that names every wrong option and what is allowed. */
export function commandOptions<C extends CommandName>(command: C, raw: RawOptions): OptionsOf<C> {
  const problems: string[] = [];
  // Separate schemas: one for all options would take as long as the rest of a short command.
  const values = optionsOf(command).flatMap((option) => {
    const value = valueOf(option, raw[option.name], problems);
    return value === undefined ? [] : [[option.name, value]];
  });
  if (problems.length > 0) throw new UsageError(problems);
  return Object.fromEntries(values) as OptionsOf<C>;
}

/** The value of an option that was given, has a default or is a switch. */
function valueOf({ name, row, required }: ListedOption, given: unknown, problems: string[]): unknown {
  if (row.value === undefined) return given ?? row.isOn === true;
  const text = given ?? row.fallback;
  if (text === undefined && required !== true) return undefined;
  // Without Zod's compilation, which pays off only for many values.
  const parsed = row.value(optionValue).safeParse(text, { jitless: true });
  for (const { message } of parsed.error?.issues ?? []) problems.push(`${flagOf(name)}: ${message}`);
  return parsed.data;
}

/** The options of `run`, `plan` and `config`, and the settings that only a configuration file has. */
type StartOptions<C extends 'run' | 'plan' | 'config'> = OptionsOf<C> & {
  readonly endpoints: ConfiguredEndpoints;
  /** The configuration file that sets `maxCost`. */
  readonly maxCostFrom?: string | undefined;
};
export type RunOptions = StartOptions<'run'>;
/** `plan` takes every option of `run`. */
export type PlanOptions = StartOptions<'plan'>;

/** The options of a command that starts or would start a run. Throws `UsageError`. */
export function startOptions<C extends 'run' | 'plan' | 'config'>(
  command: C,
  raw: RawOptions,
): StartOptions<C> {
  const { endpoints = {}, maxCostFrom } = raw as Partial<StartOptions<C>>;
  const options = { ...commandOptions(command, raw), endpoints, maxCostFrom };
  const problems: string[] = [];
  refuseTogether(options as unknown as RunOptions, (name, why) => problems.push(`${flagOf(name)}: ${why}`));
  if (problems.length > 0) throw new UsageError(problems);
  return options;
}

/** Whether a plan describes a start even before the run has begun: if money is limited, or files are saved. */
export function describesStart({
  maxCost,
  maxCostBy,
  costBy,
  saveOutput,
}: PlanOptions | RunOptions): boolean {
  return [maxCost, maxCostBy, costBy, saveOutput].some((option) => option !== undefined);
}

const longestUploadMs = 6 * 86_400_000;

function refuseTogether(options: RunOptions, refuse: (name: keyof RunOptions, why: string) => void): void {
  const { local, upload, uploadEndpoint, imagesBase, timeout } = options;
  for (const name of Object.keys(emulatorPage.rows) as (keyof typeof emulatorPage.rows)[])
    if (options[name] !== undefined && !local) refuse(name, 'is for the emulator: it goes with --local');
  if (uploadEndpoint !== undefined && upload === undefined) refuse('uploadEndpoint', 'goes with --upload');
  if (upload !== undefined && timeout > longestUploadMs)
    refuse('timeout', 'is at most 6d with --upload: no address of a picture lives longer than 7 days');
  if (imagesBase !== undefined && upload !== undefined)
    refuse('imagesBase', 'does not go with --upload: pictures are in one place');
  if (options.webhookListen !== undefined && options.webhookUrl === undefined && !local)
    refuse('webhookListen', 'goes with --webhook-url: the service has to know where to call');
  if (!local) return;
  for (const name of ['baseUrl', 'lbBaseUrl'] as const)
    if (options[name] !== undefined) refuse(name, 'does not go with --local: the emulator has its own');
  for (const name of ['upload', 'imagesBase'] as const)
    if (options[name] !== undefined)
      refuse(name, 'does not go with --local: the emulator serves the pictures');
}
