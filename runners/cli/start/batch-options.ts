import type { PriceBook } from '../../batch/formats.js';
import { dayLedgerPath, type RunBatchOptions } from '../../batch/internal.js';
import type { PricedBytes } from '../../batch/planning.js';
import type { Subject } from 'rxjs';
import type { CliIo, FaultContext, RawOptions } from '../io/cli-io.js';
import type { SignalOrder } from '../io/listen-for-stop.js';
import { executionTimeouts } from '../options/configured-endpoints.js';
import type { RunOptions } from '../options/parse-options.js';
import { capOf, choicesOf } from '../plan/plan-difference.js';
import type { SavedPlan } from '../plan/saved-plan.js';
import type { Target } from '../service/service-settings.js';
import { openUploads, uploadedImages } from '../service/open-uploads.js';
import { manifestSettings } from '../plan/planned-settings.js';
import type { SpooledManifest } from './spool-input.js';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { flagOf, noFlagOf, optionsOf, type ListedOption } from '../options/option-table.js';

/** Rows that arrive on stdin during the run. The result line of each goes to stdout when it ends. */
export interface LiveRows {
  readonly rows: AsyncIterable<unknown>;
  readonly deliver: NonNullable<RunBatchOptions['deliver']>;
  /** Emits when the reader of stdout goes away, which stops the run. */
  readonly stop$: Subject<SignalOrder>;
  /** Closes stdin, which may never end by itself. */
  close(): void;
}

/** A run whose options, manifest and price are settled. */
export interface StartedRun {
  readonly source: SpooledManifest;
  readonly out: string;
  readonly options: RunOptions;
  /** The arguments that a later start needs as well. */
  readonly repeat: NonNullable<RunBatchOptions['repeat']>;
  readonly target: Target;
  readonly prices: PriceBook;
  readonly io: CliIo;
  readonly fault: FaultContext;
  /** Rows that arrive during the run, instead of a manifest. */
  readonly live?: LiveRows;
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
    repeat: run.repeat,
    identity: { baseUrl: baseUrl ?? '', lbBaseUrl: lbBaseUrl ?? '', local },
    apiKey,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(lbBaseUrl !== undefined && { lbBaseUrl }),
    ...rateOptions(options),
    ...webhookOptions(options),
    ...choicesOf(options),
    ...moneyOf(run),
    ...(run.options.upload && { pictureHost: (folder: string) => openUploads(run, folder) }),
  };
}

function rateOptions(options: RunOptions): Partial<RunBatchOptions> {
  const { concurrency, downloads, rate, timeout, runsyncTimeout, retries, pollCost, lowPriority } = options;
  return {
    ...(concurrency !== undefined && { concurrency }),
    downloads,
    timeoutMs: timeout,
    runsyncTimeoutMs: runsyncTimeout,
    executionTimeoutsMs: executionTimeouts(options.endpoints),
    retries,
    pollCostMs: pollCost,
    ...(lowPriority && { lowPriority }),
    ...(rate !== undefined && { rate }),
  };
}

/** In a rehearsal, the emulator calls back to the port on which the run listens. */
function webhookOptions({ webhookUrl: url, webhookListen, local }: RunOptions): Partial<RunBatchOptions> {
  if (url === undefined && webhookListen === undefined) return {};
  const where = webhookListen ?? (local ? { port: 0 } : {});
  return { webhooks: { ...where, ...(url !== undefined && !local && { url }) } };
}

function fileOf({ source, bytes }: StartedRun): Extract<RunBatchOptions['manifest'], { path: string }> {
  const { path, keep } = source;
  return { path, ...(keep && { keep }), ...(bytes && { bytes }) };
}

function moneyOf({ options, io, prices }: StartedRun): Partial<RunBatchOptions> {
  const { maxCostPerDay, assumePrice, warnAt } = options;
  const ledger = ledgerFile(options, io);
  return {
    prices,
    ...capOf(options),
    ...(maxCostPerDay !== undefined && { maxCostPerDayUsd: maxCostPerDay }),
    ...(warnAt !== undefined && { warnAt }),
    ...(ledger !== undefined && { ledgerFile: ledger }),
    ...(assumePrice !== undefined && { assumePriceUsd: assumePrice }),
    ...agreedPrice(options),
  };
}

/** A start that may cost more than this needs agreement. */
export const askAboveUsd = 25;

/** Without a cap and `--yes`, the user agreed to the planned price, and not to many times as much. */
const agreedDriftPercent = 100;

function agreedPrice({
  maxPriceDrift: limit,
  maxCostPerDay,
  yes,
  local,
}: RunOptions): Partial<RunBatchOptions> {
  const isBounded = maxCostPerDay !== undefined || yes || local;
  return {
    ...(limit !== undefined && { maxPriceDriftPercent: limit }),
    ...(!isBounded && {
      unlessCapped: { maxPriceDriftPercent: agreedDriftPercent, maxUnpricedUsd: askAboveUsd },
    }),
  };
}

/** The ledger that this run shares with others, if any. A rehearsal has a ledger of its own. */
export function ledgerFile(
  { ledger, maxCostPerDay, local }: Pick<RunOptions, 'ledger' | 'maxCostPerDay' | 'local'>,
  { cwd, env }: Pick<CliIo, 'cwd' | 'env'>,
): string | undefined {
  if (ledger !== undefined) return resolve(cwd, ledger);
  if (maxCostPerDay === undefined) return undefined;
  const path = dayLedgerPath(env, process.platform, homedir());
  return local ? path.replace(/\.jsonl$/, '.local.jsonl') : path;
}

/**
 * The options of a start that a later start of the run needs as well, as arguments. Settings of a configuration file are left
 * out, because they are read again. Paths become absolute. Passwords are left out, because the arguments are written to the
 * journal.
 *
 * @param raw as given by the command line and a saved plan
 * @param from the configuration file that sets an option, by the option's name
 */
export function repeatedOptions(
  raw: RawOptions,
  from: ReadonlyMap<string, string>,
  cwd: string,
): { manifest: string[]; others: string[] } {
  const given = optionsOf('run').filter(({ name, row }) => row.isOnce !== true && !from.has(name));
  const wordsOf = (ofManifest: boolean): string[] =>
    given
      .filter(({ row }) => (row.isOfManifest === true) === ofManifest)
      .flatMap((option) => optionWords(option, raw[option.name], cwd));
  return { manifest: wordsOf(true), others: wordsOf(false) };
}

function optionWords({ name, row }: ListedOption, value: unknown, cwd: string): string[] {
  const flag = flagOf(name);
  if (value === false) return [noFlagOf(name)];
  if (value === true) return row.isOn === true ? [] : [flag];
  const values = Array.isArray(value) ? (value as unknown[]) : [value];
  return values
    .filter((one) => typeof one === 'string' || typeof one === 'number')
    .flatMap((one) => [flag, shown(row, String(one), cwd)]);
}

function shown(row: ListedOption['row'], value: string, cwd: string): string {
  return row.takes === 'FILE' ? resolve(cwd, value) : withoutPassword(value);
}

/** The address of a database without its password, which a printed command reads from PGPASSWORD or ~/.pgpass. */
function withoutPassword(address: string): string {
  if (!/^postgres(ql)?:/.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password === '' && !url.searchParams.has('password')) return address;
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}
