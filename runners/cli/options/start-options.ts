import * as z from 'zod';
import type { ConfiguredEndpoints } from './configured-endpoints.js';
import type { OptionsOf } from './option-table.js';
import { shapeOf } from './parse-options.js';
import { emulatorPage } from './table/service-page.js';

/** What `run`, `plan` and `config` go by: their options, and what only a configuration file can name. */
type StartOptions<C extends 'run' | 'plan' | 'config'> = OptionsOf<C> & {
  readonly endpoints: ConfiguredEndpoints;
  /** The configuration file that `maxCost` is from. */
  readonly maxCostFrom?: string | undefined;
};
export type RunOptions = StartOptions<'run'>;
/** `plan` takes every option of `run`. */
export type PlanOptions = StartOptions<'plan'>;

/** The schema of a command's options. It is made where a command needs it: a schema of a hundred options takes a while. */
export function startSchema<C extends 'run' | 'plan' | 'config'>(command: C): z.ZodType<StartOptions<C>> {
  const schema = z.object({
    ...shapeOf(command),
    endpoints: z.custom<ConfiguredEndpoints>().default({}),
    maxCostFrom: z.string().optional(),
  });
  return schema.superRefine((options, context) =>
    refuseTogether(options as unknown as RunOptions, (name, message) =>
      context.addIssue({ code: 'custom', path: [name], message }),
    ),
  ) as unknown as z.ZodType<StartOptions<C>>;
}

/** Whether money is spoken of: such a plan says what a start would do, also where no run has begun. */
export function asksForMoney({ maxCost, maxCostBy, costBy }: PlanOptions | RunOptions): boolean {
  return maxCost !== undefined || maxCostBy !== undefined || costBy !== undefined;
}

const longestUploadMs = 6 * 86_400_000;

/** Options that do not go together. */
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
