import { isDeepStrictEqual } from 'node:util';
import { serialize } from 'node:v8';
import { crc32 } from 'node:zlib';
import { version } from '../../../../src/contract/version.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import { readFile, valueOfJson } from '../../disk/read-file.js';
import { replaceFile } from '../../disk/replace-file.js';
import type { Journal } from '../../journal/journal.js';
import type { ManifestSettings } from '../../manifest/manifest-settings.js';
import type { Plan } from '../../manifest/plan-manifest.js';
import { costByInForce, trackedColumns } from '../../row/totals.js';
import { PricedBytes, type FoundBytes } from '../../tasks/priced-bytes.js';
import type { Ahead } from './ahead.js';
import type { KeptSurvey } from './survey.js';

/**
 * What a start found in a manifest whose rows have all ended, kept beside the journal: as long as the manifest, the way it is
 * read and what the journal knows of rows stay the same, later starts find the same, and take no row apart.
 */
interface KeptCheck extends CheckFacts {
  readonly bytes: FoundBytes;
  readonly found: KeptFindings;
}

/** What a check of these rows finds, as JSON can hold it. */
export interface KeptFindings {
  readonly plan: Plan;
  readonly survey: KeptSurvey;
  readonly columns: readonly string[];
}

/** All that the check of such a manifest depends on, beside the manifest's bytes. */
interface CheckFacts {
  readonly made: string;
  readonly settings: string;
  readonly prices: unknown;
  readonly run: unknown;
}

/** Raised when something else is kept, or means something else. */
const format = 1;
const made = JSON.stringify({ format, version });

type KnownJournal = Pick<Journal, 'recovered'>;

/** What an earlier start has kept, if it holds for this one. Otherwise `undefined`: then the manifest is read row by row. */
export async function loadKeptCheck(
  options: ResolvedOptions,
  journal: KnownJournal,
): Promise<KeptFindings | undefined> {
  const facts = factsOf(options, journal);
  const kept = facts && (await readKept(options));
  if (facts === undefined || kept === undefined || !isDeepStrictEqual(facts, pick(kept))) return undefined;
  const { path, settings, bytes = new PricedBytes() } = options.manifest;
  const isSame = isDeepStrictEqual(await bytes.look(options.disk, path, settings.name), kept.bytes);
  return isSame ? kept.found : undefined;
}

/** Keeps what a start has found. If the disk fails, nothing is kept, and nothing is lost. */
export async function saveKeptCheck(
  options: ResolvedOptions,
  journal: KnownJournal,
  {
    plan,
    ahead,
    columns,
    survey,
  }: Omit<KeptFindings, 'survey'> & {
    readonly ahead: Ahead;
    /** Absent where the check is the one that was kept. */
    readonly survey?: KeptSurvey | undefined;
  },
): Promise<void> {
  const facts = factsOf(options, journal);
  const bytes = options.manifest.bytes?.found;
  const isWhole =
    ahead.rows > 0 && plan.invalid === 0 && ahead.ended === ahead.rows && ahead.newlySent.length === 0;
  if (facts === undefined || bytes === undefined || survey === undefined || !isWhole) return;
  const text = JSON.stringify({ ...facts, bytes, found: { plan, survey, columns } });
  const content = `${text}\n${crc32(text)}\n`;
  await replaceFile(options.disk, keptPath(options.out), content).catch(() => undefined);
}

/** Beside the journal. It may be removed at any time. */
function keptPath(folder: string): string {
  return `${folder}/.manifest.checked`;
}

async function readKept({ disk, out }: ResolvedOptions): Promise<KeptCheck | undefined> {
  const path = keptPath(out);
  const { size } = (await disk.stat(path).catch(() => undefined)) ?? { size: 0 };
  const text = await readFile(disk, path, size).catch(() => '');
  const [json = '', sum] = text.toString().split('\n');
  return String(crc32(json)) === sum ? (valueOfJson(json) as KeptCheck) : undefined;
}

function pick({ made: by, settings, prices, run }: KeptCheck): CheckFacts {
  return { made: by, settings, prices, run };
}

/** `undefined`: this start may do something with rows that have ended, or rows depend on more than the manifest. */
function factsOf(options: ResolvedOptions, { recovered }: KnownJournal): CheckFacts | undefined {
  const { manifest, retry, only, limit, changed, prices } = options;
  const { rows } = recovered.totals;
  const takesUp = [...retry, ...alwaysTakenUp].some((code) => rows.has(code)) || recovered.pending.size > 0;
  const takesSome = only !== undefined || limit < Number.MAX_SAFE_INTEGER || changed === 'redo';
  const isElsewhere = [manifest.live, manifest.keep, recovered.database].some((part) => part !== undefined);
  // The values of a column are those of the rows that are seen.
  const isByValue = trackedColumns(costByInForce(options, recovered.costBy)).length > 0;
  const settings = settingsOf(manifest.settings);
  if (takesUp || takesSome || isElsewhere || isByValue || settings === undefined) return undefined;
  const run = { rows: [...rows], checksum: recovered.rows.table.checksum };
  return JSON.parse(JSON.stringify({ made, settings, prices: prices.table(), run })) as CheckFacts;
}

/** Each start looks at these again. */
const alwaysTakenUp = ['invalid-row', 'expired'] as const;

/** `undefined` where a function is among them: what it finds beside the manifest may be another thing each time. */
function settingsOf(settings: ManifestSettings): string | undefined {
  try {
    return serialize({ ...settings, separatedBy: undefined }).toString('base64');
  } catch {
    return undefined;
  }
}
