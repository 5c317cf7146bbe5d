import { serialize } from 'node:v8';
import { addPrice } from '../../../../src/contract/micro-dollars.js';
import { version } from '../../../../src/contract/version.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import { withFile } from '../../disk/read-file.js';
import { replaceFile } from '../../disk/replace-file.js';
import { openSealed, readHeader, sealed, type SealedFile } from '../../disk/sealed-file.js';
import type { Journal } from '../../journal/journal.js';
import type { Plan } from '../../manifest/plan-manifest.js';
import type { LeftOut } from '../../manifest/records/manifest-sections.js';
import { costByInForce, trackedColumns } from '../../row/totals.js';
import type { RowStatus } from '../../row/row-status.js';
import type { FoundBytes } from '../../tasks/priced-bytes.js';
import type { Ahead } from './ahead.js';
import { sectionsLeftAlone, type CheckedRows, type KeptRows } from './checked-rows.js';

/**
 * The results of checking a manifest, kept beside the journal. While the manifest and the settings for reading it stay the
 * same, later starts parse only rows that they may have to act on.
 */
interface KeptHeader {
  readonly made: string;
  readonly settings: string;
  readonly bytes: FoundBytes;
  readonly plan: Plan;
  /** The prices, if pricing the plan again needs the rows. */
  readonly prices: string | null;
  readonly columns: readonly string[];
  readonly rows: KeptRows;
  readonly sample: readonly string[];
}

/** The results of an earlier start's check, and the rows that this start need not read. */
export interface KeptCheck {
  readonly plan: Plan;
  readonly columns: readonly string[];
  readonly leftOut: { readonly rows: number; readonly sections: readonly LeftOut[] };
  /** Some ids have capitals: the names of their pictures depend on all ids. */
  readonly hasCapitals: boolean;
  /** The hashes of a `RowSample`. */
  readonly sample: readonly string[];
}

/** To be raised when the content of the file changes or gets another meaning. */
const format = 4;
const made = JSON.stringify({ format, version });

type Known = Journal['recovered'];

/**
 * Whether a check can be kept: not if the values of a column must be read from each row, or if rows depend on more than
 * the manifest's bytes.
 */
export function canBeKept(
  options: Pick<ResolvedOptions, 'manifest' | 'costBy' | 'maxCostByUsd'>,
  known: Partial<Pick<Known, 'database' | 'costBy'>>,
): boolean {
  const isByValue = trackedColumns(costByInForce(options, known.costBy)).length > 0;
  return !isByValue && settingsOf(options, known) !== undefined;
}

/** The kept check of an earlier start, if it is valid for this one. If `undefined`, the manifest is read row by row. */
export async function loadKeptCheck(options: ResolvedOptions, known: Known): Promise<KeptCheck | undefined> {
  const { disk, manifest, out, only } = options;
  const settings = settingsOf(options, known);
  const path = keptPath(out);
  if (only !== undefined || known.leftUnknown !== undefined || manifest.bytes === undefined) return undefined;
  if (!canBeKept(options, known)) return undefined;
  if ((await disk.stat(path).catch(() => undefined)) === undefined) return undefined;
  const kept = await withFile(disk, path, async (file) => {
    const whole = await openSealed<KeptHeader>(file);
    if (whole?.header.made !== made || whole.header.settings !== settings) return undefined;
    return { header: whole.header, left: await leftAlone(options, known, whole) };
  }).catch(() => undefined);
  if (kept === undefined) return undefined;
  const { header, left } = kept;
  if (header.prices !== null && header.prices !== pricesOf(options)) return undefined;
  const found = await manifest.bytes.look(disk, manifest.path, manifest.settings);
  return JSON.stringify(found) === JSON.stringify(header.bytes) ? leaveOut(options, header, left) : undefined;
}

/** Whether a check is kept for a manifest that is read with the same settings; `loadKeptCheck` compares the manifest itself. */
export async function isKept({ disk, out, manifest }: ResolvedOptions): Promise<boolean> {
  const path = keptPath(out);
  if ((await disk.stat(path)) === undefined) return false;
  const { header } = await withFile(disk, path, (file) => readHeader<KeptHeader>(file));
  return header.made === made && header.settings === settingsOf({ manifest }, {});
}

/** Saves the check of a start. If the disk fails, nothing is saved; the next start then checks all rows. */
export async function saveKeptCheck(
  options: Pick<ResolvedOptions, 'disk' | 'out' | 'manifest' | 'prices'>,
  { recovered }: { readonly recovered: Partial<Pick<Known, 'database'>> },
  found: Pick<KeptHeader, 'plan' | 'columns' | 'sample'> & {
    readonly ahead: Pick<Ahead, 'newlySent'>;
    /** Absent if the check was itself loaded from the kept file. */
    readonly rows?: CheckedRows | undefined;
  },
): Promise<void> {
  const { plan, columns, rows, sample, ahead } = found;
  const settings = settingsOf(options, recovered);
  const bytes = options.manifest.bytes?.found;
  if (rows === undefined || settings === undefined || bytes === undefined) return;
  if (plan.invalid > 0 || ahead.newlySent.length > 0 || !rows.isKnown) return;
  const prices = isPricedByRow(plan) ? pricesOf(options) : null;
  const header: KeptHeader = { made, settings, bytes, plan, prices, columns, rows: rows.kept, sample };
  const content = sealed(header, rows.bytes());
  await replaceFile(options.disk, keptPath(options.out), content).catch(() => undefined);
}

/** The file beside the journal. It may be removed at any time. */
function keptPath(folder: string): string {
  return `${folder}/.manifest.checked`;
}

/** Finds the rows that this start need not read. */
function leftAlone(
  { retry }: ResolvedOptions,
  { rows: states }: Known,
  { header: { rows, bytes }, fill }: SealedFile<KeptHeader>,
): ReturnType<typeof sectionsLeftAlone> {
  const retried = new Set<RowStatus>([...retry, ...alwaysRetried]);
  return sectionsLeftAlone(rows, fill, (id, bits) => states.isLeftAlone(id, bits, retried), bytes.length);
}

/** `undefined` if the other rows depend on those that are left out. */
function leaveOut(
  options: ResolvedOptions,
  { rows, columns, plan: kept, sample }: KeptHeader,
  { isAll, sections }: Awaited<ReturnType<typeof sectionsLeftAlone>>,
): KeptCheck | undefined {
  const plan = isPricedByRow(kept) ? kept : pricedAnew(kept, rows, options);
  const { hasCapitals, areAlike } = rows;
  const isApart = kept.repeats === 0 && (kept.same?.rows ?? 0) === 0 && !areAlike;
  if (isAll) return { plan, columns, hasCapitals, sample, leftOut: { rows: rows.length, sections: [] } };
  const found = { rows: sections.reduce((sum, section) => sum + section.rows, 0), sections };
  return isApart && found.rows > 0 ? { plan, columns, hasCapitals, sample, leftOut: found } : undefined;
}

/** Every start looks at rows with these codes again. */
const alwaysRetried = ['invalid-row', 'expired'] as const;

/** Whether the plan has sums by axis, by priority or for equal requests: these can only be priced row by row. */
function isPricedByRow({ matrix, priorities, same }: Plan): boolean {
  return matrix !== undefined || priorities !== undefined || (same?.rows ?? 0) > 0;
}

/** Adds up the cost again, since prices change as the service reports them. */
function pricedAnew(plan: Plan, rows: KeptRows, { prices }: ResolvedOptions): Plan {
  const cost = { estimated: 0, unpriced: 0 };
  for (const { what, count } of rows.purchases) {
    const price = prices.priceOf(what);
    addPrice(cost, price, count);
  }
  return { ...plan, cost };
}

function pricesOf({ prices }: Pick<ResolvedOptions, 'prices'>): string {
  return serialize(prices.table()).toString('base64');
}

/**
 * The settings for reading the manifest, as text; `undefined` if rows depend on more than the manifest's bytes, such as
 * on a function.
 */
function settingsOf(
  { manifest }: Pick<ResolvedOptions, 'manifest'>,
  { database }: Partial<Pick<Known, 'database'>>,
): string | undefined {
  const { live, keep, settings } = manifest;
  if (live !== undefined || keep !== undefined || database !== undefined) return undefined;
  try {
    return serialize({ ...settings, separatedBy: undefined }).toString('base64');
  } catch {
    return undefined;
  }
}
