import type { RunBatchOptions } from '../../batch/context/run-options.js';
import * as z from 'zod';
import { emulatorFlags } from './emulator-flags.js';
import { parseUploadTarget } from '../../batch/uploads/picture-host.js';
import { executionTimeouts, type ConfiguredEndpoints } from './configured-endpoints.js';
import { optionValue } from './option-value.js';

/** No timer waits longer: a limit beyond the lifetime of any job would only look like one. */
const longestMs = 30 * 86_400_000;
const longestUploadMs = 6 * 86_400_000;

/** The options of `run` and `plan` as the command line gives them; durations in ms, money in USD. */
export const runOptionsSchema = z
  .object({
    endpoint: optionValue.endpoint().optional(),
    /** Of the configuration: the command line has no word for it. */
    endpoints: z.custom<ConfiguredEndpoints>().default({}),
    baseUrl: optionValue.host().optional(),
    lbBaseUrl: optionValue.host().optional(),
    apiKeyFile: z.string().optional(),
    local: z.boolean().default(false),
    ...emulatorFlags,
    upload: optionValue.parsedBy(parseUploadTarget).optional(),
    uploadEndpoint: optionValue.host().optional(),
    imagesBase: optionValue.imagesBase().optional(),
    out: z.string().min(1, 'is empty: name a folder').optional(),
    format: optionValue.oneOf('csv', 'jsonl').optional(),
    set: optionValue.pairs('NAME=VALUE').default({}),
    map: optionValue.pairs('NAME=COLUMN').default({}),
    delimiter: optionValue.delimiter().optional(),
    ignore: z.array(z.string().min(1, 'is empty: name a column')).default([]),
    kind: optionValue.oneOf('edit', 'job', 'route').optional(),
    mode: optionValue.oneOf('sync', 'async').optional(),
    concurrency: optionValue.wordOr('auto', optionValue.wholeNumber(1, 10_000)).optional(),
    downloads: optionValue.wholeNumber(1, 1000).default(4),
    rate: optionValue.wordOr('runpod', optionValue.rate()).optional(),
    http: optionValue.oneOf('got', 'undici').default('got'),
    runsyncTimeout: optionValue.duration(1, longestMs).default(60_000),
    timeout: optionValue.duration(1, longestMs).default(3_600_000),
    retries: optionValue.wholeNumber(0, 1000).default(4),
    pollCost: optionValue.duration(1, 3_600_000).default(190),
    onUnknown: optionValue.oneOf('hold', 'retry').default('hold'),
    retry: optionValue.retryCodes().optional(),
    maxCost: optionValue.wordOr('none', optionValue.usd()).optional(),
    /** The configuration file that `maxCost` is from; the command line has no word for it. */
    maxCostFrom: z.string().optional(),
    maxCostPerDay: optionValue.usd().optional(),
    ledger: z.string().min(1, 'is empty: name a file').optional(),
    prices: z.string().min(1, 'is empty: name a file').optional(),
    assumePrice: optionValue.usd().optional(),
    maxPriceDrift: optionValue.percent().optional(),
    yes: z.boolean().default(false),
    limit: optionValue.wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
    only: optionValue.names().optional(),
    repair: z.boolean().default(false),
    changed: optionValue.oneOf('keep', 'redo').default('keep'),
    same: optionValue.oneOf('warn', 'refuse').default('warn'),
    follow: z.boolean().default(false),
    halt: optionValue.halt().optional(),
    skipInvalid: z.boolean().default(false),
    add: z.boolean().default(false),
    download: z.boolean().default(true),
    db: optionValue.database().optional(),
    metricsFile: z.string().min(1, 'is empty: name a file').optional(),
    quiet: z.boolean().default(false),
    json: z.boolean().default(false),
  })
  .superRefine((options, context) => {
    for (const name of Object.keys(emulatorFlags) as (keyof typeof emulatorFlags)[]) {
      if (options[name] !== undefined && !options.local) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: 'is for the emulator: it goes with --local',
        });
      }
    }
    if (options.uploadEndpoint !== undefined && options.upload === undefined)
      context.addIssue({ code: 'custom', path: ['uploadEndpoint'], message: 'goes with --upload' });
    if (options.upload !== undefined && options.timeout > longestUploadMs)
      context.addIssue({
        code: 'custom',
        path: ['timeout'],
        message: 'is at most 6d with --upload: no address of a picture lives longer than 7 days',
      });
    if (options.imagesBase !== undefined && options.upload !== undefined)
      context.addIssue({
        code: 'custom',
        path: ['imagesBase'],
        message: 'does not go with --upload: pictures lie in one place',
      });
    for (const name of ['baseUrl', 'lbBaseUrl', 'upload', 'imagesBase'] as const) {
      if (options[name] !== undefined && options.local) {
        context.addIssue({
          code: 'custom',
          path: [name],
          message:
            name === 'upload' || name === 'imagesBase'
              ? 'does not go with --local: the emulator serves the pictures'
              : 'does not go with --local: the emulator has its own',
        });
      }
    }
  });

export type RunOptions = z.output<typeof runOptionsSchema>;

/** How fast a run goes, as the batch runner takes it. */
export function rateOptions(options: RunOptions): Partial<RunBatchOptions> {
  const { concurrency, downloads, rate, timeout, runsyncTimeout, retries, pollCost } = options;
  return {
    ...(concurrency !== undefined && { concurrency }),
    downloads,
    timeoutMs: timeout,
    runsyncTimeoutMs: runsyncTimeout,
    executionTimeoutsMs: executionTimeouts(options.endpoints),
    retries,
    pollCostMs: pollCost,
    ...(rate !== undefined && { rate }),
  };
}

/** What a person chose for rows that ended, changed or are not to be done now. */
export function choicesOf(options: RunOptions): Partial<RunBatchOptions> {
  const { onUnknown, repair, retry, changed, same, limit, only, skipInvalid, add, download, halt } = options;
  return {
    onUnknown,
    repair,
    changed,
    same,
    skipInvalid,
    add,
    download,
    ...(retry !== undefined && { retry }),
    ...(limit !== undefined && { limit }),
    ...(only !== undefined && { only }),
    ...(halt !== undefined && { halt }),
  };
}

/** A cap of the configuration gives way to what the run remembers. */
export function capOf({
  maxCost,
  maxCostFrom,
}: RunOptions): Pick<RunBatchOptions, 'maxCostUsd' | 'defaultMaxCostUsd'> {
  if (maxCost === undefined) return {};
  if (maxCostFrom === undefined) return { maxCostUsd: maxCost === 'none' ? null : maxCost };
  return maxCost === 'none' ? {} : { defaultMaxCostUsd: maxCost };
}
