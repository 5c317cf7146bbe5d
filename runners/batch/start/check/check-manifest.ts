import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { Journal } from '../../journal/journal.js';
import type { RowsInManifest, RowStates } from '../../journal/rows/row-states.js';
import { planManifest, type Plan } from '../../manifest/plan-manifest.js';
import type { ManifestItem, Row } from '../../manifest/manifest-row.js';
import { decideRow, rulesOf, type ManifestRules } from '../../row/decide-row.js';
import { SelectRows } from '../../manifest/rows/row-selection.js';
import type { Ahead } from './ahead.js';
import { boughtBefore, boughtByOthers, SameAhead, type Sent, type Bought } from './bought-before.js';
import { boughtElsewhere, boughtHere, type PeekJournal } from './bought-elsewhere.js';
import { runIn } from '../../lock/run-progress.js';
import { endedRuns, type AnnouncedStart } from '../../lock/announced-requests.js';
import { otherRuns } from '../../lock/runs-of-manifest.js';
import { isPolledOnceMore } from '../../row/left-rows.js';
import { KnownIds, readRows } from '../../tasks/read-rows.js';
import { IdBook } from '../../manifest/duplicates/id-book.js';
import { axesChange } from '../../manifest/matrix/asked-axes.js';
import { byPriority } from '../../manifest/columns/row-priority.js';
import { askedHash } from '../../manifest/request-hash.js';
import { RowSample } from '../../manifest/duplicates/row-sample.js';
import { SameTally } from '../../manifest/duplicates/same-requests.js';
import { HashesByBytes, hasLocalPictures, hashWithoutPictures } from '../../uploads/create-picture-host.js';
import type { PictureNames } from '../../pictures/picture-names.js';
import { NewlySent } from './newly-sent.js';
import { CheckedRows } from './checked-rows.js';
import { canBeKept, loadKeptCheck, type KeptCheck } from './kept-check.js';
import { HashList } from './spooled-chunks.js';
import { StartSurvey, type JournalRows } from './survey.js';
import type { ResolvedOptions } from '../../context/resolved-options.js';
import type { Stops } from '../../stop/stops.js';

/** The results of the first pass over a manifest. Nothing has been sent. */
export interface Checked {
  readonly plan: Plan;
  readonly ahead: Ahead;
  readonly names: PictureNames;
  /** Rows of the manifest that earlier starts left unfinished. */
  readonly pending: ReadonlySet<string>;
  /** Those of `pending` that cannot be sent again: their line is invalid now, or a later version replaces it. */
  readonly pendingHeld: ReadonlySet<string>;
  /** Rows that failed as invalid and are still in the manifest. */
  readonly invalid: RowStates;
  /** Columns of the first row, in their order. */
  readonly columns: readonly string[];
  /** The rows of the manifest, if all of them were read and can be kept. */
  readonly rows?: CheckedRows | undefined;
  /** Hashes of some rows, by which another run of the same rows is found: see `RowSample`. */
  readonly sample: readonly string[];
  /** The same without their pictures, if these are uploaded. */
  readonly similar?: readonly string[];
  /** The requests that this start sends, and the runs that had ended before the purchases of others were read. */
  readonly announced: Pick<AnnouncedStart, 'requests' | 'ended'>;
  /** The price of the rows that are sent and whose price is in no list, by what the service has reported before. */
  readonly unlisted: MicroDollars;
}

/** What a check needs in addition to the options. */
interface CheckParts {
  readonly stops: Pick<Stops, 'isStopping'>;
  readonly peekJournal: PeekJournal;
  readonly beforeRows?: (() => void) | undefined;
  /** Makes a list for what this start sends. @defaultValue it sends nothing */
  readonly newRequests?: (() => HashList) | undefined;
}

/** For a run that has not begun. */
const nothingKnown: JournalRows = {};

/**
 * Reads the manifest to its end and finds its problems, its expected cost, and the rows that are still to be done.
 *
 * @param journal absent if the run has not begun
 */
export async function checkManifest(
  options: ResolvedOptions,
  journal: Pick<Journal, 'recovered' | 'records' | 'rowsIn'> | undefined,
  { stops, peekJournal, beforeRows, newRequests }: CheckParts,
): Promise<Checked> {
  const known = journal?.recovered ?? nothingKnown;
  const start = { stops, newRequests, polledOnceMore: await polledOnceMore(options, journal) };
  const newSurvey = () => new StartSurvey(options, known, start);
  const kept = journal && (await loadKeptCheck(options, journal.recovered));
  if (kept !== undefined && kept.leftOut.rows < kept.plan.rows) beforeRows?.();
  const { out, pictureHost } = options;
  const byBytes = new HashesByBytes(pictureHost && (() => pictureHost(out)));
  try {
    const rest = kept && { survey: newSurvey(), kept, byBytes };
    const checked = rest && (await checkRest(options, journal, rest));
    return checked ?? (await checkRows(options, journal, { newSurvey, peekJournal, beforeRows, byBytes }));
  } finally {
    await byBytes.close();
  }
}

interface RestParts {
  readonly survey: StartSurvey;
  readonly kept: KeptCheck;
  readonly byBytes: HashesByBytes;
}

/** Checks only the rows that the kept check of an earlier start does not cover. `undefined`: all rows must be read. */
async function checkRest(
  options: ResolvedOptions,
  journal: Bought,
  { survey, kept, byBytes }: RestParts,
): Promise<Checked | undefined> {
  const { plan, columns, leftOut, hasCapitals, sample } = kept;
  survey.leaveOut(leftOut.rows);
  const newlySent = leftOut.rows < plan.rows ? await readRest(options, journal, { survey, leftOut }) : [];
  const ahead = {
    ...(await aheadOf(options, survey, journal)),
    same: new SameTally().result(),
    newlySent,
  };
  const again = () => readRows(options.disk, options.manifest, new KnownIds(journal.recovered.rows));
  const rules = { known: journal.recovered, rules: rulesOf(options, journal.recovered) };
  const toSend = () => rowsToSend(again(), options, rules);
  const announced = await announcedBy(options, survey, { byBytes, toSend });
  const isByOrder = plan.priorities !== undefined && survey.dependsOnOrder;
  // A row that left the manifest may have a picture with the same name as a row that is not read. It may also have bought what
  // another row asks for now, and so may a row that has changed.
  const isByGone = (ahead.gone > 0 && hasCapitals) || (!survey.inManifest.areAll && ahead.toSend > 0);
  const isByOthers =
    ahead.toSend > 0 && (await otherRuns(options, await begunRun(options), { sample })).length > 0;
  if (!isByOrder && !isByGone && !isByOthers)
    return { plan, columns, ahead, ...foundBy(survey), sample, ...announced };
  if (options.manifest.bytes) options.manifest.bytes.leftOut = [];
  return undefined;
}

/** Reads the rows that the kept check does not cover. Returns the columns that they send for the first time. */
async function readRest(
  options: ResolvedOptions,
  journal: Bought,
  { survey, leftOut }: { readonly survey: StartSurvey; readonly leftOut: KeptCheck['leftOut'] },
): Promise<string[]> {
  const { disk, manifest } = options;
  const newlySent = await NewlySent.after(journal);
  if (manifest.bytes) manifest.bytes.leftOut = leftOut.sections;
  for await (const item of readRows(disk, manifest, new KnownIds(journal.recovered.rows))) {
    survey.see(item);
    if (item.valid) newlySent?.see(item.row.columnUse);
  }
  return newlySent?.names() ?? [];
}

interface RowCheckParts extends Omit<CheckParts, 'stops'> {
  readonly newSurvey: () => StartSurvey;
  readonly byBytes: HashesByBytes;
}

/** Checks the whole manifest, row by row. */
async function checkRows(
  options: ResolvedOptions,
  journal: Bought | undefined,
  { newSurvey, peekJournal, beforeRows, byBytes }: RowCheckParts,
): Promise<Checked> {
  beforeRows?.();
  const survey = newSurvey();
  const known = journal?.recovered ?? nothingKnown;
  const newlySent = await NewlySent.after(journal);
  const rules = rulesOf(options, known);
  const same = new SameAhead(options, known, rules);
  let separatedBy: string | undefined;
  const settings = { ...options.manifest.settings, separatedBy: (name: string) => (separatedBy = name) };
  const manifest = { ...options.manifest, settings };
  const rows = canBeKept(options, known) ? new CheckedRows() : undefined;
  const newIds = () => (known.rows === undefined ? new IdBook() : new KnownIds(known.rows));
  const ids = newIds();
  const [sample, similar] = [new RowSample(), new RowSample([hashWithoutPictures])];
  const read = () => readRows(options.disk, manifest, newIds());
  const plan = await planManifest(readRows(options.disk, manifest, ids), {
    priceOf: (row) => options.prices.priceOf(row),
    areHashed: rows !== undefined && manifest.settings.resolveImage === undefined,
    see: (item) => {
      survey.see(item);
      if (!item.valid) return;
      newlySent?.see(item.row.columnUse);
      sample.add(item.row);
      if (options.pictureHost !== undefined) similar.add(item.row);
      rows?.add(item.row, manifest.bytes?.sections ?? []);
      if (survey.names.hasCapitals) rows?.addName(item.row.id, survey.names, ids);
    },
    separatedBy: () => separatedBy,
    again: (priorities) => byPriority(priorities, read),
    seeAgain: (row, line) => same.see(row, line),
  });
  const ordered = survey.dependsOnOrder && plan.priorities !== undefined ? newSurvey() : survey;
  if (ordered !== survey) for await (const item of byPriority(plan.priorities, read)) ordered.see(item);
  const ahead = await aheadOf(options, ordered, journal);
  const toSend = () => rowsToSend(byPriority(plan.priorities, read), options, { known, rules });
  const announced = await announcedBy(options, ordered, { byBytes, toSend });
  const bought = await boughtAlready(options, journal, {
    ahead,
    inManifest: survey.inManifest,
    samples: { sample: sample.hashes, similar: similar.hashes },
    peekJournal,
    byBytes,
    toSend,
    isSame: (row) => same.has(row),
  });
  return {
    plan,
    ahead: { ...ahead, ...bought, same: same.found(), newlySent: newlySent?.names() ?? [] },
    ...foundBy(survey),
    columns: survey.columns ?? [],
    rows,
    sample: sample.hashes,
    similar: similar.hashes,
    ...announced,
  };
}

/** Rows whose pictures are uploaded are known by the bytes of these. */
async function announcedBy(
  { disk }: ResolvedOptions,
  survey: StartSurvey,
  { byBytes, toSend }: { readonly byBytes: HashesByBytes; readonly toSend: () => AsyncIterable<Row> },
): Promise<Pick<Checked, 'announced' | 'unlisted'>> {
  const { requests = new HashList(2), unlisted } = survey;
  const ended: ReadonlySet<string> = survey.requests === undefined ? new Set() : await endedRuns(disk);
  if (survey.hasUploads)
    for await (const row of toSend())
      if (hasLocalPictures(row)) survey.addRequest((await byBytes.hashOf(row)) ?? askedHash(row));
  return { announced: { requests, ended }, unlisted };
}

function foundBy({ names, pending, pendingHeld, invalid }: StartSurvey) {
  return { names, pending, pendingHeld, invalid };
}

/** What the survey has counted, with the rows whose requests other rows of the run have bought, and how the axes differ. */
async function aheadOf(
  { manifest }: ResolvedOptions,
  survey: StartSurvey,
  journal: Bought | undefined,
): Promise<ReturnType<StartSurvey['ahead']> & Pick<Ahead, 'axes'>> {
  const ahead = survey.ahead();
  if (journal === undefined) return ahead;
  const boughtAs = await boughtByOthers(journal, survey.changed.first);
  const { rows, axes: known } = journal.recovered;
  const axes = rows.size === 0 ? undefined : axesChange(known, manifest.settings);
  const isMoved = boughtAs.size > 0;
  const changed = { ...ahead.changed, ...(isMoved && { boughtAs: Object.fromEntries(boughtAs) }) };
  return { ...ahead, changed, ...(axes && { axes }) };
}

/** The purchases that this start would repeat: those of this run, and for the rows that are left those of other runs. */
async function boughtAlready(
  options: ResolvedOptions,
  journal: Bought | undefined,
  start: {
    readonly ahead: Pick<Ahead, 'toSend'>;
    readonly inManifest: RowsInManifest;
    readonly samples: Pick<Checked, 'sample' | 'similar'>;
    readonly peekJournal: PeekJournal;
    readonly byBytes: HashesByBytes;
  } & Pick<Sent, 'toSend' | 'isSame'>,
): Promise<Pick<Ahead, 'bought' | 'unread'>> {
  const { ahead, inManifest, samples, peekJournal, byBytes, toSend, isSame } = start;
  const { prices } = options;
  const sent = { toSend, isSame, priceOf: (row: Row) => prices.priceOf(row) };
  if (options.manifest.live !== undefined) return journal === undefined ? boughtHere(options) : {};
  if (ahead.toSend === 0) return {};
  const { own, rest = sent } =
    journal && !inManifest.areAll ? await boughtBefore(options, journal, { inManifest, byBytes }, sent) : {};
  const runs = await otherRuns(options, journal && (await begunRun(options)), samples);
  const { bought, ...found } = await boughtElsewhere(options, { runs, peekJournal, byBytes }, rest);
  if (own === undefined) return { ...found, ...(bought && { bought }) };
  return { ...found, bought: { ...own, ...(bought && { others: bought }) } };
}

/** The id of the run that goes on. Without a journal in the folder nothing of the folder is known. */
async function begunRun({ disk, out }: ResolvedOptions): Promise<string> {
  return (await runIn(disk, out)) ?? '';
}

async function* rowsToSend(
  items: AsyncIterable<ManifestItem>,
  options: ResolvedOptions,
  { known, rules }: { readonly known: JournalRows; readonly rules: ManifestRules },
): AsyncGenerator<Row> {
  const select = new SelectRows(options);
  for await (const item of items) {
    const task = item.valid ? decideRow(item.row, known.rows?.get(item.row.id), rules) : undefined;
    if (item.valid && task !== undefined && select.takes(item.row) && task.what === 'send') yield item.row;
  }
}

/** Ids of the rows that ended as expired and whose jobs are polled once more by this start. */
async function polledOnceMore(
  options: ResolvedOptions,
  journal: Pick<Journal, 'recovered' | 'rowsIn'> | undefined,
): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  if ((journal?.recovered.totals.rows.get('expired') ?? 0) === 0) return ids;
  for await (const row of journal?.rowsIn(['expired']) ?? [])
    if (isPolledOnceMore(row, options)) ids.add(row.id);
  return ids;
}
