import { NEVER, type Observable } from 'rxjs';
import * as z from 'zod';
import { InvalidOptionError } from '../../../src/contract/millrace-error.js';
import { toMicroDollars, maxPurchaseUsd } from '../../../src/contract/micro-dollars.js';
import { defaultRunsyncTimeoutMs } from '../../../src/contract/limits.js';
import { checkHttpUrl } from '../../../src/contract/request-parts.js';
import { lateGotDownload, lateGotTransport } from '../../../src/transport/got/late-got.js';
import { parseOutputPath } from '../artifacts/output-path.js';
import { makeThumbnail } from '../artifacts/write-thumbnail.js';
import type { Disk } from '../disk/disk.js';
import { nodeDisk } from '../disk/node-disk.js';
import type { RunIdentity } from '../journal/record.js';
import { assumePrice, createPriceBook, type PriceBook } from '../ledger/price-book.js';
import { createLedger } from '../ledger/ledger.js';
import { holdRun } from '../lock/hold-run.js';
import { manifestFormat } from '../manifest/manifest-settings.js';
import { openSharedLedger } from './money/day-money.js';
import { PricedBytes } from '../tasks/priced-bytes.js';
import { retryCodes } from '../row/decide-row.js';
import { mostCostColumns } from '../row/totals.js';
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

/** Options that have their own form: hosts and key, the manifest, and parts that can be replaced. */
type OtherOption = 'manifest' | 'identity' | 'baseUrl' | 'lbBaseUrl' | 'apiKey' | 'rate' | keyof Parts;
type Parts = ReturnType<typeof parts>;

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
} satisfies Record<Exclude<keyof RunBatchOptions, OtherOption>, z.ZodType>;
const plainSchema = z.object(plainFields);

/**
 * Validates the options and fills in the defaults.
 *
 * @throws {InvalidOptionError} with the name of the first option that is wrong
 */
export function resolveOptions(options: RunBatchOptions): ResolvedOptions {
  const parsed = plainSchema.safeParse(options);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new InvalidOptionError(issue?.path.join('.') ?? 'options', issue?.message ?? 'is not valid');
  }
  const { retry, only, ...plain } = parsed.data;
  return {
    ...plain,
    ...parts(options),
    retry: retryCodes(retry),
    only: only === undefined ? undefined : new RowSelection(only),
    manifest: manifestOf(options.manifest),
    identity: options.identity ?? identityOf(options),
    settings: plainSettings(options),
    ...(options.baseUrl !== undefined && { baseUrl: options.baseUrl }),
    ...(options.lbBaseUrl !== undefined && { lbBaseUrl: options.lbBaseUrl }),
    ...(options.apiKey !== undefined && { apiKey: options.apiKey }),
    secrets: options.apiKey === undefined ? [] : [options.apiKey],
  };
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

/**
 * The clocks of the shared ledger. Entries get the later of the run's clock and the wall clock, so that their times never go
 * back; they expire by the earlier of the two.
 */
function dayClocks({ scheduler }: RunBatchOptions, now: () => number) {
  return scheduler === undefined
    ? { now: () => Math.max(now(), Date.now()), countedBy: () => Math.min(now(), Date.now()) }
    : { now };
}

function pricesOf({ prices = createPriceBook(), assumePriceUsd }: RunBatchOptions): PriceBook {
  return assumePriceUsd === undefined ? prices : assumePrice(prices, toMicroDollars(assumePriceUsd));
}

function sharedLedger(options: RunBatchOptions, disk: Disk, now: () => number) {
  const { out, ledgerFile: path, maxCostPerDayUsd: capUsd } = options;
  const clocks = dayClocks(options, now);
  if (path !== undefined) return () => openSharedLedger({ disk, ...clocks, out, path, capUsd });
  if (capUsd === undefined) return undefined;
  throw new InvalidOptionError(
    'maxCostPerDayUsd',
    'needs the file of the ledger that runs share: ledgerFile',
  );
}

function manifestOf(manifest: RunBatchOptions['manifest']): ResolvedManifest {
  if ('rows' in manifest) {
    const { rows: live, name = 'the stream', ...given } = manifest;
    return { path: name, live, settings: { ...given, name, format: 'jsonl', gzip: false } };
  }
  const { path, bytes = new PricedBytes(), keep, ...given } = manifest;
  const byName = manifestFormat(path);
  const format = given.format ?? byName?.format;
  if (format === undefined)
    throw new InvalidOptionError('manifest', `${path} is not a .csv, .jsonl or .ndjson file: set its format`);
  return {
    path,
    bytes,
    ...(keep && { keep }),
    settings: { name: path, gzip: byName?.gzip ?? false, ...given, format },
  };
}

/** The service's own hosts. Pictures on a private network may only be downloaded if one of these hosts is on it too. */
function servicesOf({ baseUrl, lbBaseUrl }: RunBatchOptions): string[] {
  return [baseUrl, lbBaseUrl].filter((url) => url !== undefined);
}

function identityOf({ baseUrl = '', lbBaseUrl = '' }: RunBatchOptions): RunIdentity {
  return { baseUrl, lbBaseUrl, local: false };
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
