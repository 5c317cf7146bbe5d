import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { PricedBytes } from '../../batch/tasks/priced-bytes.js';
import type { RunBatchOptions } from '../../batch/context/run-options.js';
import type { CliIo } from '../io/cli-io.js';
import type { FaultContext } from '../io/explain-error.js';
import { ledgerFile } from '../options/ledger-file.js';
import type { RunOptions } from '../options/run-options.js';
import type { SavedPlan } from '../saved-plan/read-plan.js';
import { executionTimeouts } from '../config/endpoint-settings.js';
import type { Target } from './target.js';
import { openUploads, uploadedImages } from './open-uploads.js';
import type { LiveRows } from './live-rows.js';
import { manifestSettings } from './plan-source.js';
import type { SpooledManifest } from './spool-input.js';

/** A run whose options, manifest and price are settled. */
export interface StartedRun {
  readonly source: SpooledManifest;
  readonly out: string;
  readonly options: RunOptions;
  readonly target: Target;
  readonly prices: PriceBook;
  readonly io: CliIo;
  readonly fault: FaultContext;
  /** Rows that arrive while it goes, in place of a manifest. */
  readonly live?: LiveRows;
  /** The plan that it is held to. */
  readonly plan?: SavedPlan;
  /** The bytes that were compared with the plan. */
  readonly bytes?: PricedBytes;
}

/** The options of the command line as the batch runner takes them. */
export function batchOptions(run: StartedRun): RunBatchOptions {
  const { source, out, options, target, live } = run;
  const { baseUrl, lbBaseUrl, apiKey, local, resolveImage } = target;
  return {
    manifest: {
      ...manifestSettings(source, options),
      ...(live === undefined ? fileOf(run) : { rows: live.rows }),
      ...(resolveImage && { resolveImage }),
      ...(options.upload && { resolveImage: uploadedImages(source.folder) }),
    },
    ...(live && { deliver: live.deliver }),
    out,
    identity: { baseUrl: baseUrl ?? '', lbBaseUrl: lbBaseUrl ?? '', local },
    apiKey,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(lbBaseUrl !== undefined && { lbBaseUrl }),
    ...paceOf(options),
    ...choicesOf(options),
    ...moneyOf(run),
    ...(run.options.upload && { pictureHost: (folder: string) => openUploads(run, folder) }),
  };
}

function fileOf({ source, bytes }: StartedRun): Extract<RunBatchOptions['manifest'], { path: string }> {
  const { path, keep } = source;
  return { path, ...(keep && { keep }), ...(bytes && { bytes }) };
}

function paceOf(options: RunOptions): Partial<RunBatchOptions> {
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

function moneyOf({ options, io, prices }: StartedRun): Partial<RunBatchOptions> {
  const { maxCostPerDay, assumePrice, maxPriceDrift } = options;
  const ledger = ledgerFile(options, io);
  return {
    prices,
    ...capOf(options),
    ...(maxCostPerDay !== undefined && { maxCostPerDayUsd: maxCostPerDay }),
    ...(ledger !== undefined && { ledgerFile: ledger }),
    ...(assumePrice !== undefined && { assumePriceUsd: assumePrice }),
    ...(maxPriceDrift !== undefined && { maxPriceDriftPercent: maxPriceDrift }),
  };
}

/** A cap of the configuration gives way to what the run remembers. */
export function capOf({
  maxCost,
  maxCostFrom,
}: StartedRun['options']): Pick<RunBatchOptions, 'maxCostUsd' | 'defaultMaxCostUsd'> {
  if (maxCost === undefined) return {};
  if (maxCostFrom === undefined) return { maxCostUsd: maxCost === 'none' ? null : maxCost };
  return maxCost === 'none' ? {} : { defaultMaxCostUsd: maxCost };
}
