import { NEVER, type Observable } from 'rxjs';
import * as z from 'zod';
import { isObject } from '../../../src/contract/check-option.js';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import { toMicroDollars, maxPurchaseUsd } from '../../../src/contract/micro-dollars.js';
import { defaultRunsyncTimeoutMs } from '../../../src/contract/limits.js';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';
import { lateGotDownload, lateGotTransport } from '../../../src/transport/got/late-got.js';
import { parseOutputPath } from '../artifacts/output-path.js';
import { makeThumbnail } from '../artifacts/write-thumbnail.js';
import type { Disk } from '../disk/disk.js';
import { nodeDisk } from '../disk/node-disk.js';
import { assumePrice, createPriceBook, type PriceBook } from '../ledger/price-book.js';
import { createLedger } from '../ledger/ledger.js';
import { pictureResolutions } from '../ledger/price-list.js';
import { holdRun } from '../lock/hold-run.js';
import { manifestFormat } from '../manifest/manifest-settings.js';
import { openSharedLedger } from './money/day-money.js';
import { PricedBytes } from '../tasks/priced-bytes.js';
import { retryCodes } from '../row/decide-row.js';
import { mostCostColumns } from '../row/totals.js';
import { nearMiss } from '../manifest/columns/near-miss.js';
import { RowSelection } from '../manifest/rows/row-selection.js';
import type { ResolvedManifest, ResolvedOptions } from '../context/resolved-options.js';
import type { RunBatchOptions, StopOrder } from '../context/run-options.js';
import type { HandOn, OpenCallbackPort } from '../context/callback-port.js';
import { runClock } from '../../../src/policy/client-clock.js';
import {
  adaptiveGate,
  publishedGate,
  rateGate,
  runpodRates,
} from '../../../src/policy/gates/built-in-gates.js';
import type { Gate } from '../../../src/policy/gates/gate.js';
import type { GateOptions } from '../../../src/policy/gates/endpoint-gate.js';

const whole = z.int().min(1);
const duration = z.number().positive();

const outputPath = z.string().superRefine((text, context) => {
  const parsed = parseOutputPath(text);
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
});

/** An object with these members, or a function: what becomes of it is not looked into. */
const having = (kind: string, ...members: readonly string[]) =>
  z.custom((value) => isObject(value) && members.every((member) => member in value), `is not ${kind}`);
const aFunction = z.custom((value) => typeof value === 'function', 'is not a function');

/** Options that have their own form: hosts and key, the manifest, and parts that can be replaced. */
const otherFields = {
  manifest: z.custom(isManifest, 'is neither { path } nor { rows }'),
  identity: having('{ baseUrl, lbBaseUrl, local }', 'baseUrl', 'lbBaseUrl', 'local').optional(),
  baseUrl: z.string().optional(),
  lbBaseUrl: z.string().optional(),
  apiKey: z.string().optional(),
  rate: z.unknown().optional(),
  scheduler: having('a scheduler of rxjs', 'now', 'schedule').optional(),
  random: aFunction.optional(),
  disk: having('a disk', 'open', 'rename').optional(),
  gate: having('a gate', 'admit').optional(),
  schedule: having('a poll schedule', 'pollTimes').optional(),
  transport: aFunction.optional(),
  pictureHost: aFunction.optional(),
  saveFrom: aFunction.optional(),
  makeThumbnail: aFunction.optional(),
  hold: aFunction.optional(),
  journal: aFunction.optional(),
  ledger: aFunction.optional(),
  prices: having('a price book', 'priceOf', 'table').optional(),
  dayLedger: aFunction.optional(),
  stop: having('an Observable of stop orders', 'subscribe').optional(),
  deliver: aFunction.optional(),
  confirm: aFunction.optional(),
} satisfies Partial<Record<keyof RunBatchOptions, z.ZodType>>;

function isManifest(value: unknown): boolean {
  if (!isObject(value)) return false;
  if (!('rows' in value)) return 'path' in value && typeof value.path === 'string';
  return isObject(value.rows) && (Symbol.asyncIterator in value.rows || Symbol.iterator in value.rows);
}

const priceLimits = {
  maxPriceDriftPercent: z.number().min(0).optional(),
  maxUnpricedUsd: z.number().min(0).optional(),
};

/** The plain values. An option without an entry here is a compile error, because it would be dropped. */
const plainFields = {
  out: z.string().min(1),
  concurrency: z.union([whole, z.literal('auto')]).optional(),
  downloads: whole.default(4),
  timeoutMs: duration.default(3_600_000),
  runsyncTimeoutMs: duration.default(defaultRunsyncTimeoutMs),
  executionTimeoutsMs: z.record(z.string(), duration).default({}),
  retries: z.int().min(0).default(4),
  webhooks: z
    .object({
      url: z
        .string()
        .refine((url) => checkHttpUrl(url) === undefined, 'is not an http or https URL')
        .optional(),
      host: z.string().min(1).default('127.0.0.1'),
      port: z.int().min(0).max(65_535).default(8_787),
      open: z.custom<OpenCallbackPort>((open) => typeof open === 'function').optional(),
      handOn: z.custom<HandOn>((handOn) => typeof handOn === 'function').optional(),
    })
    .optional(),
  lowPriority: z.boolean().optional(),
  pollCostMs: z.number().positive().max(3_600_000).default(190),
  onUnknown: z.enum(['hold', 'retry']).default('hold'),
  retry: z.array(z.string()).default([]),
  changed: z.enum(['keep', 'redo']).optional(),
  same: z.enum(['warn', 'refuse']).default('warn'),
  limit: whole.default(Number.MAX_SAFE_INTEGER),
  only: z.array(z.string()).optional(),
  skipInvalid: z.boolean().default(false),
  add: z.boolean().default(false),
  download: z.boolean().default(true),
  saveOutput: z.array(outputPath).max(32).nullable().optional(),
  maxCostUsd: z.number().min(0).nullable().optional(),
  defaultMaxCostUsd: z.number().min(0).optional(),
  costBy: z.array(z.string().min(1)).max(mostCostColumns).nullable().optional(),
  maxCostByUsd: z.record(z.string().min(1), z.number().min(0).nullable()).nullable().optional(),
  maxCostPerDayUsd: z.number().min(0).optional(),
  warnAt: z
    .union([z.object({ percent: z.number().gt(0).max(100) }), z.object({ usd: z.number().gt(0) })])
    .optional(),
  ledgerFile: z.string().min(1).optional(),
  assumePriceUsd: z.number().min(0).max(maxPurchaseUsd).optional(),
  ...priceLimits,
  unlessCapped: z.strictObject(priceLimits).optional(),
  halt: z.union([z.object({ count: whole }), z.object({ percent: z.number().gt(0).max(100) })]).optional(),
  repair: z.boolean().default(false),
  repeat: z.object({ manifest: z.array(z.string()), others: z.array(z.string()) }).optional(),
} satisfies Record<Exclude<keyof RunBatchOptions, keyof typeof otherFields>, z.ZodType>;
const plainSchema = z.object(plainFields);
const otherSchema = z.object(otherFields);
const optionNames = [...Object.keys(plainFields), ...Object.keys(otherFields)];

/**
 * Validates the options and fills in the defaults.
 *
 * @throws {InvalidOptionError} with the name of the first option that is wrong
 */
export function resolveOptions(options: RunBatchOptions): ResolvedOptions {
  checkOptionNames(options);
  parse(otherSchema, options);
  const { retry, only, ...plain } = parse(plainSchema, options);
  const { baseUrl = '', lbBaseUrl = '' } = options;
  const replaced = parts(options);
  return {
    ...plain,
    ...replaced,
    retry: retryCodes(retry),
    only: only === undefined ? undefined : new RowSelection(only),
    manifest: manifestOf(options.manifest, replaced.prices),
    identity: options.identity ?? { baseUrl, lbBaseUrl, local: false },
    settings: plainSettings(options),
    ...(options.baseUrl !== undefined && { baseUrl: options.baseUrl }),
    ...(options.lbBaseUrl !== undefined && { lbBaseUrl: options.lbBaseUrl }),
    ...(options.apiKey !== undefined && { apiKey: options.apiKey }),
    secrets: options.apiKey === undefined ? [] : [options.apiKey],
  };
}

/** A misspelt option would silently have no effect: a cap on costs, for example. */
function checkOptionNames(options: RunBatchOptions): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || optionNames.includes(name)) continue;
    const meant = nearMiss(name, optionNames) ?? optionNames.find((option) => option.startsWith(name));
    throw new InvalidOptionError(
      name,
      `is not an option of runBatch${meant === undefined ? '' : `: is ${meant} meant?`}`,
    );
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, options: RunBatchOptions): z.infer<Schema> {
  const parsed = schema.safeParse(options);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InvalidOptionError(issue?.path.join('.') ?? 'options', issue?.message ?? 'is not valid');
}

/** The parts that can be replaced, with their defaults. */
function parts(options: RunBatchOptions) {
  const { scheduler = runClock(), random = Math.random, disk = nodeDisk, rate } = options;
  const now = (): number => scheduler.now();
  const clock = { scheduler, random };
  return {
    scheduler,
    random,
    disk,
    gate: options.gate ?? gateFor(rate, clock),
    schedule: options.schedule,
    transport: options.transport ?? lateGotTransport(),
    pictureHost: options.pictureHost,
    saveFrom: options.saveFrom ?? lateGotDownload({ services: servicesOf(options) }),
    makeThumbnail: options.makeThumbnail ?? makeThumbnail,
    hold: options.hold ?? ((folder: string) => holdRun(folder, { disk, now })),
    journal: options.journal,
    ledger: options.ledger ?? createLedger,
    prices: pricesOf(options),
    dayLedger: options.dayLedger ?? sharedLedger(options, disk, now),
    stop: (options.stop ?? NEVER) satisfies Observable<StopOrder>,
    deliver: options.deliver,
    confirm: options.confirm ?? (() => true),
  };
}

function pricesOf({ prices = createPriceBook(), assumePriceUsd }: RunBatchOptions): PriceBook {
  return assumePriceUsd === undefined ? prices : assumePrice(prices, toMicroDollars(assumePriceUsd));
}

function sharedLedger(options: RunBatchOptions, disk: Disk, now: () => number) {
  const { out, ledgerFile: path, maxCostPerDayUsd: capUsd } = options;
  // Entries get the later of the run's clock and the wall clock, so that their times never go back; they expire by the earlier one.
  const clocks =
    options.scheduler === undefined
      ? { now: () => Math.max(now(), Date.now()), countedBy: () => Math.min(now(), Date.now()) }
      : { now };
  if (path !== undefined) return () => openSharedLedger({ disk, ...clocks, out, path, capUsd });
  if (capUsd === undefined) return undefined;
  throw new InvalidOptionError(
    'maxCostPerDayUsd',
    'needs the file of the ledger that runs share: ledgerFile',
  );
}

function manifestOf(manifest: RunBatchOptions['manifest'], prices: PriceBook): ResolvedManifest {
  const pictures = pictureResolutions(prices.table().book);
  if ('rows' in manifest) {
    const { rows: live, name = 'the stream', ...given } = manifest;
    return { path: name, live, settings: { ...given, ...pictures, name, format: 'jsonl', gzip: false } };
  }
  const { path, bytes = new PricedBytes(), keep, ...given } = manifest;
  const byName = manifestFormat(path);
  const { format = byName?.format, gzip = byName?.gzip ?? false, name = path } = given;
  if (format === undefined)
    throw new InvalidOptionError('manifest', `${path} is not a .csv, .jsonl or .ndjson file: set its format`);
  return {
    path,
    bytes,
    ...(keep && { keep }),
    settings: { ...given, ...pictures, name, gzip, format },
  };
}

/** The service's own hosts. Pictures on a private network may only be downloaded if one of these hosts is on it too. */
function servicesOf({ baseUrl, lbBaseUrl }: RunBatchOptions): string[] {
  return [baseUrl, lbBaseUrl].filter((url) => url !== undefined);
}

/** The settings of a start that the journal records: plain values only, so no API key. */
function plainSettings(options: RunBatchOptions): Record<string, unknown> {
  const plain = Object.entries(options).filter(
    ([name, value]) => name in plainSchema.shape && value !== undefined && value !== null,
  );
  return Object.fromEntries(plain);
}

/** The gate of a run by its rate: a number of requests per second, the published limits, or limits that it measures itself. */
export function gateFor(rate: number | 'runpod' | undefined, clock: GateOptions = {}): Gate {
  if (rate === undefined) return adaptiveGate(clock);
  return rate === 'runpod' ? publishedGate(runpodRates, clock) : rateGate(rate, clock);
}
