import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import {
  assumePrice,
  describeSame,
  diskFaultAt,
  nodeDisk,
  type ManifestItem,
  type Plan,
  type PriceBook,
  type Row,
} from '../../batch/formats.js';
import {
  byPriority,
  apartText,
  missingText,
  planManifest,
  PricedBytes,
  prioritiesOf,
  readRows,
  RowSelection,
  type RowSample,
  SelectRows,
} from '../../batch/planning.js';
import type { CliIo } from '../io/cli-io.js';
import { UsageError } from '../io/usage-error.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/parse-options.js';
import { countOf, plainText } from '../messages/plain-text.js';
import { invalidText } from '../messages/plan-text.js';
import { plannedSettings } from './planned-settings.js';

/**
 * Reads the whole manifest and plans its rows. Starts nothing and sends nothing.
 *
 * @param sample gets all rows
 */
export async function planSource(
  source: ManifestSource,
  options: RunOptions,
  {
    io,
    prices,
    sample,
  }: { readonly io: Pick<CliIo, 'stdin'>; readonly prices: PriceBook; readonly sample: RowSample },
): Promise<Plan> {
  let separatedBy: string | undefined;
  const noted = { separatedBy: (name: string) => (separatedBy = name) };
  const settings = { ...(await plannedSettings(source, options, prices)), ...noted };
  const priceOf = (row: Row) => prices.priceOf(row);
  const bytes = new PricedBytes();
  return withManifestFile(source, io, async (path) => {
    const rows = await selectRows(() => readRows(nodeDisk, { path, settings, bytes }), options);
    return planManifest(rows(), { priceOf, see: sample.see, separatedBy: () => separatedBy, again: rows });
  });
}

/** Calls `plan` with the manifest as a file. A plan reads it twice, so stdin is first saved to a temporary file. */
export async function withManifestFile<T>(
  { path }: ManifestSource,
  io: Pick<CliIo, 'stdin'>,
  plan: (path: string) => Promise<T>,
): Promise<T> {
  if (path !== undefined) return plan(path);
  const fail = diskFaultAt(tmpdir());
  const folder = await mkdtemp(join(tmpdir(), 'millrace-plan-')).catch(fail);
  try {
    const file = join(folder, 'manifest');
    await pipeline(io.stdin, createWriteStream(file, { mode: 0o600 })).catch(fail);
    return await plan(file);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The prices that a plan uses: with those of `--assume-price`. */
export function plannedPrices(prices: PriceBook, { assumePrice: assumed }: RunOptions): PriceBook {
  return assumed === undefined ? prices : assumePrice(prices, toMicroDollars(assumed));
}

/** Throws `UsageError` for entries of `--only` that match no row, or that no row matches together. */
export function refuseMissing(entries: readonly string[], areApart: boolean | undefined): void {
  if (areApart) throw new UsageError([`--only: ${apartText}`]);
  if (entries.length === 0) return;
  const text = missingText(entries.slice(0, 20), (entry) => `"${plainText(entry, 60)}"`);
  throw new UsageError([`--only: ${text}${entries.length > 20 ? ', …' : ''}`]);
}

/** Prints each invalid row with its problems, and throws `UsageError` unless invalid rows are to be skipped. */
export function refuseInvalid(
  plan: Plan,
  source: ManifestSource,
  options: RunOptions,
  io: Pick<CliIo, 'stderr'>,
): void {
  if (plan.invalid === 0) return;
  for (const line of invalidText(plan, source.name)) io.stderr.write(`${line}\n`);
  if (options.skipInvalid) return;
  throw new UsageError(
    [`${source.name} has ${countOf(plan.invalid, 'invalid row')}: nothing was sent`],
    plan.invalid === plan.rows
      ? 'correct the options or the manifest'
      : 'correct the manifest, or count its invalid rows as failures with --skip-invalid',
  );
}

/** Notes on the effect of options that the figures of a plan do not show. */
export function optionNotes(plan: Pick<Plan, 'byKind'>, options: RunOptions): string[] {
  return [...lowPriorityNote(plan, options), ...onUnknownNote(options)];
}

function onUnknownNote({ onUnknown, retries, local }: RunOptions): string[] {
  if (onUnknown !== 'retry' || local) return [];
  return [
    `note: --on-unknown retry: a request that may have been accepted is sent again, up to ${countOf(retries, 'time')}, and may be charged each time; the price does not include that`,
  ];
}

function lowPriorityNote(
  { byKind: { job, edit } }: Pick<Plan, 'byKind'>,
  { lowPriority, mode, endpoints }: RunOptions,
): string[] {
  if (!lowPriority) return [];
  const isAsync =
    mode === undefined
      ? job > 0 || Object.values(endpoints).some((endpoint) => endpoint.mode === 'async')
      : mode === 'async' && job + edit > 0;
  return isAsync
    ? ['note: --low-priority: rows that go to /run wait at the service behind all jobs without low priority']
    : ['note: --low-priority has no effect: no row goes to /run (--mode async)'];
}

/** With `--same refuse`, throws `UsageError` with the rows that ask for the same. */
export function refuseSame(same: Plan['same'], { same: action }: RunOptions, name: string): void {
  if (action !== 'refuse' || same === undefined || same.rows === 0) return;
  throw new UsageError(
    [
      ...describeSame(same).map((line) => `${name}, ${line}`),
      `${countOf(same.rows, 'row')} would be bought a second time`,
    ],
    'nothing was sent; take them out, or allow them with --same warn',
  );
}

interface ManifestPart {
  readonly limit?: number | undefined;
  readonly only?: readonly string[] | undefined;
}

/**
 * Reads the rows that `--only` and `--limit` select, and all invalid rows; a limit selects rows with the highest priorities.
 * Each call of the returned function reads them again, by the priorities found at first. At the end it throws `UsageError` for
 * entries of `--only` that match no row.
 */
export async function selectRows(
  read: () => AsyncIterable<ManifestItem>,
  part: ManifestPart,
): Promise<(found?: Plan['priorities']) => AsyncGenerator<ManifestItem>> {
  const priorities = part.limit === undefined ? undefined : await prioritiesOf(read());
  return (found) => selected(byPriority(priorities ?? found, read), part);
}

async function* selected(
  items: AsyncIterable<ManifestItem>,
  part: ManifestPart,
): AsyncGenerator<ManifestItem> {
  const only = part.only === undefined ? undefined : new RowSelection(part.only);
  const select = new SelectRows({ limit: part.limit ?? Number.MAX_SAFE_INTEGER, only });
  for await (const item of items) {
    const { id } = item.row;
    if (id !== undefined) select.see(item.valid ? item.row : { id });
    if (!item.valid || select.takes(item.row)) yield item;
  }
  refuseMissing(select.missing(), select.areApart);
}
