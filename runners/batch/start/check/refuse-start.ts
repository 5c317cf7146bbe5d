import { MillraceError } from '../../../../src/contract/millrace-error.js';
import { whyNoThreshold } from '../../ledger/cap-watch.js';
import { ManifestError } from '../../manifest/manifest-error.js';
import { describeProblem } from '../../manifest/problem-tally.js';
import { describeBought, describeSame } from '../../manifest/duplicates/same-requests.js';
import { countOf, quoteValue, someOf } from '../../manifest/quote-value.js';
import type { Plan } from '../../manifest/plan-manifest.js';
import type { Ahead } from './ahead.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import { apartText, missingText } from '../../manifest/rows/row-selection.js';
import { readFile } from '../../disk/read-file.js';
import type { Disk } from '../../disk/disk.js';
import { journalPath, type Recovered } from '../../journal/journal.js';
import { costColumns } from '../../sinks/cost-line.js';
import { readSummary } from '../../sinks/summary-file.js';

/**
 * Refuses a start that could not do what was asked for.
 *
 * @throws {ManifestError} for invalid rows; {@link MillraceError} `usage`. Nothing has been sent.
 */
export function refuseStart(options: ResolvedOptions, plan: Plan, ahead: Ahead): void {
  if (plan.invalid > 0 && !options.skipInvalid) throw invalidRows(options, plan);
  if (ahead.missing.length > 0) throw notStarted(missingText(ahead.missing, (text) => JSON.stringify(text)));
  if (ahead.areApart) throw notStarted(apartText);
  if (options.same === 'refuse' && ahead.same.rows > 0)
    throw new ManifestError(
      options.manifest.settings.name,
      `${describeSame(ahead.same).join('; ')}; nothing was sent`,
    );
  refuseBought(options, ahead);
  const { edit, job, route } = plan.byKind;
  if (edit + job > 0 && options.baseUrl === undefined)
    throw notStarted('edits and jobs need the host of the queue API: {base_url} is missing');
  if (route > 0 && options.lbBaseUrl === undefined)
    throw notStarted('routes need their host: {lb_base_url} is missing');
  refuseUnknownColumns(ahead);
  const { warnAt } = options;
  const problem = warnAt && whyNoThreshold(warnAt, capsOf(options, ahead));
  if (problem !== undefined) throw notStarted(problem);
  refuseUnpriced(options, ahead);
}

/** In USD: the caps in force. */
function capsOf(
  { maxCostPerDayUsd }: Pick<ResolvedOptions, 'maxCostPerDayUsd'>,
  { cap, by = [] }: Pick<Ahead, 'cap' | 'by'>,
): number[] {
  const caps = [cap?.usd, maxCostPerDayUsd, ...by.map(({ capUsd }) => capUsd)];
  return caps.filter((usd) => usd !== undefined);
}

/** @throws {MillraceError} `usage` if a cap is in force and rows to send have no known price */
export function refuseUnpriced(
  options: Pick<ResolvedOptions, 'maxCostPerDayUsd'>,
  ahead: Pick<Ahead, 'cap' | 'by' | 'price' | 'firstUnpriced'>,
): void {
  const { unpriced } = ahead.price;
  const { firstUnpriced: row } = ahead;
  if (unpriced === 0 || capsOf(options, ahead).length === 0) return;
  const where =
    row === undefined
      ? ''
      : ` (${unpriced === 1 ? '' : 'such as '}line ${row.line}, id ${quoteValue(row.id)})`;
  throw notStarted(
    `${countOf(unpriced, 'row')} ${unpriced === 1 ? 'has' : 'have'} no known price${where}, so a cost cap cannot hold: give the endpoints a price (--prices), assume one (--assume-price), or lift the cap (such as --max-cost none)`,
  );
}

/** @throws {ManifestError} with `same: 'refuse'`, if the run or another run has bought the same requests already */
export function refuseBought(
  { same, manifest }: Pick<ResolvedOptions, 'same' | 'manifest'>,
  { bought }: Pick<Ahead, 'bought'>,
): void {
  if (same !== 'refuse' || bought === undefined) return;
  throw new ManifestError(manifest.settings.name, `${describeBought(bought).join('; ')}; nothing was sent`);
}

/** @throws {MillraceError} `usage` if the run is to add up by a column in which no row has a value */
export function refuseUnknownColumns({ unknownColumns }: Pick<Ahead, 'unknownColumns'>): void {
  if (unknownColumns !== undefined) throw notStarted(unknownColumns.join('; '));
}

function invalidRows(
  { manifest }: ResolvedOptions,
  { invalid, problems, otherProblems: rest }: Plan,
): ManifestError {
  const lines = problems.flatMap(describeProblem);
  const text = [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
  return new ManifestError(manifest.settings.name, `${invalid} invalid rows, nothing was sent: ${text}`);
}

function notStarted(problem: string): MillraceError {
  return new MillraceError('usage', `${problem}; nothing was sent`);
}

/**
 * Files that millrace may leave in a folder before there is a journal: locks, reserved disk space, an embedded
 * database, a manifest from stdin, run times of another run.
 */
const own =
  /^(\.lock|\.ballast|\.owner\.json|\.database\.lock|database|database\.json|distributed\.json|poll-law\.json|summary\.json\.tmp|manifest\.(csv|jsonl))(\.tmp)?$|^manifest\.\d+\.tmp$|\.prom(\.tmp)?$/;
/** Files that operating systems and tools leave in a folder that the user considers empty. */
const systems =
  /^(lost\+found|\.DS_Store|\.localized|Thumbs\.db|desktop\.ini|\.gitkeep|\.gitignore|\.nfs.*)$/;

const journalName = 'journal.jsonl';
const namesShown = 3;

/** Why a path can be no folder, by the system's error code. */
const noFolder: Readonly<Record<string, string>> = {
  ENOTDIR: 'lies below a file',
  ENAMETOOLONG: 'is too long a name for this file system',
  ELOOP: 'is a link that leads to itself',
};

async function whyNoFolder(disk: Disk, out: string): Promise<string | undefined> {
  try {
    const kind = (await disk.stat(out))?.kind;
    if (kind === 'file' || kind === 'other') return kind === 'file' ? 'is a file' : 'is no folder';
    // The path with a dot is what the link leads to.
    const target = kind === 'link' ? await disk.stat(`${out}/.`) : undefined;
    return kind === 'link' && target === undefined ? 'is a link to nothing' : undefined;
  } catch (error) {
    const why = noFolder[(error as NodeJS.ErrnoException).code ?? ''];
    if (why === undefined) throw error;
    return why;
  }
}

/**
 * Refuses a folder that is neither new, nor empty, nor the folder of a run. Writes nothing.
 *
 * @throws {MillraceError} `usage` if the path can be no folder, or if the folder holds files that millrace
 *   has not written.
 */
export async function refuseFolder(disk: Disk, out: string): Promise<void> {
  const what = await whyNoFolder(disk, out);
  if (what !== undefined)
    throw usage(`${out} ${what}, and a run needs a folder: choose another --out; nothing was sent`);
  const names = await disk.list(out);
  if (names.includes(journalName) && (await isOwnJournal(disk, out))) return;
  const foreign = names.filter((name) => !own.test(name) && !systems.test(name)).sort();
  // A run that has lost its journal is refused later, with another message, and can be repaired.
  if (foreign.length === 0 || (await wasRun(disk, out, names))) return;
  const shown = foreign.slice(0, namesShown).map((name) => JSON.stringify(name));
  throw usage(
    `${out} is not the folder of a run, and it holds files: ${someOf(shown, foreign.length)}. Nothing was written and nothing was sent: choose an --out that is new or empty`,
  );
}

/**
 * Refuses to mix another manifest into a run's folder: its rows would be in the same files, under the same cap. Writes
 * nothing.
 *
 * @throws {MillraceError} `usage` if the run used manifests at other paths, or other axes, and knows none of the ids in this
 *   one, unless `add` is set.
 */
export function refuseOtherManifest(
  {
    manifest,
    add,
    out,
  }: {
    readonly manifest: {
      readonly path: string;
      readonly keep?: { readonly path: string };
      readonly live?: unknown;
    };
    readonly add: boolean;
    readonly out: string;
  },
  { manifests, rows, axes }: Pick<Recovered, 'manifests' | 'rows' | 'axes'>,
  ahead: Pick<Ahead, 'rows' | 'gone' | 'axes'>,
): void {
  if (add || manifest.live !== undefined || rows.size === 0 || ahead.rows === 0) return;
  const sharesIds = ahead.gone < rows.size;
  if (sharesIds || manifests.length === 0) return;
  if (manifests.includes(manifest.keep?.path ?? manifest.path)) {
    const now = ahead.axes?.now ?? [];
    if (now.length === 0 && axes.length === 0) return;
    throw usage(
      `${out} holds rows ${byAxes(axes.map(({ name }) => name))}, and this start makes rows ${byAxes(now)}: they have other ids, and all ${ahead.rows} of them would be bought beside the ${rows.size} that the run knows. None of them was added to it and nothing was sent: choose another --out, or say with --add that these rows belong to that run`,
    );
  }
  const from = manifests.at(-1) ?? '';
  throw usage(
    `${out} holds a run of ${from}, and ${manifest.path} shares no id with it. None of its rows was added to the run and nothing was sent: choose another --out, or say with --add that these rows belong to that run`,
  );
}

function byAxes(names: readonly string[]): string {
  return names.length === 0
    ? 'without axes'
    : `by ${names.map((name) => quoteValue(name).slice(1, -1)).join(' and ')}`;
}

/**
 * Whether the journal is millrace's own, even if it was just created or its first record is half written: a power cut
 * leaves NUL bytes after the part that reached the disk.
 */
async function isOwnJournal(disk: Disk, out: string): Promise<boolean> {
  const [first = ''] = (await beginning(disk, journalPath(out), recordStart.length)).split('\0', 1);
  return recordStart.startsWith(first);
}

const recordStart = '{"n":';

/** Whether the folder has files of a run whose journal is gone. */
async function wasRun(disk: Disk, out: string, names: readonly string[]): Promise<boolean> {
  const header = costColumns.slice(0, 4).join(',');
  if (names.includes('costs.csv') && (await beginning(disk, `${out}/costs.csv`, header.length)) === header)
    return true;
  for (const name of ['results.jsonl', 'failures.jsonl']) {
    const line = names.includes(name) ? await beginning(disk, `${out}/${name}`, lineBytes) : '';
    if (line.startsWith('{"id":') && /"(settledAt|millrace|request)":/.test(line)) return true;
  }
  return names.includes('summary.json') && (await readSummary(disk, out))?.covers !== undefined;
}

const lineBytes = 16 << 10;

/** The first bytes of a file; `?` if it is not a regular file. */
async function beginning(disk: Disk, path: string, length: number): Promise<string> {
  if ((await disk.stat(path))?.kind !== 'file') return '?';
  return (await readFile(disk, path, length)).toString('latin1');
}

function usage(message: string): MillraceError {
  return new MillraceError('usage', message);
}
