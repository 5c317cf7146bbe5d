import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import { imageEditPrices, type MicroDollars, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { Disk } from '../../batch/disk/disk.js';
import type { ReachedCap } from '../../batch/ledger/value-caps.js';
import type { Place } from '../read/read-places.js';
import { type JsonObject, numberOr, objectIn, parseObject, textOr } from '../read/json-object.js';
import { parseJsonl, readIfThere } from '../read/read-jsonl.js';
import { reservedPrices } from '../messages/edit-prices.js';
import { anotherFolder } from '../messages/run-again.js';
import { lastLiveState } from '../watch/live-state.js';
import {
  laterManifestAt,
  originalRows,
  readStory,
  type RowsOfManifest,
  type RunStory,
  type Span,
  spansOf,
} from './run-story.js';
import { type Money, sumMoney, type ColumnSums, sumsByValue } from './sum-money.js';
import { type RowSurvey, surveyRows } from './survey-rows.js';

/** The report's data about a run as a whole. */
export interface Survey {
  readonly folder: string;
  /** The name of a new folder, to repeat a rehearsal. */
  readonly another: string;
  readonly key: string;
  readonly name: string;
  /** The first manifest; a later one may have only a part of the rows. */
  readonly manifest: string;
  readonly rows: RowSurvey;
  /** The positions of earlier results by row, oldest first. */
  readonly earlier: ReadonlyMap<string, readonly Place[]>;
  readonly money: Money;
  /** Sums by the values of each column that the run adds up by. */
  readonly byValue: readonly ColumnSums[];
  readonly story: RunStory;
  readonly prices: Readonly<Record<string, MicroDollars>>;
  /** Number of rows that may have been bought. */
  readonly heldRows: number;
  /** Number of paid rows whose picture is still to be downloaded. */
  readonly undownloaded: number;
  /** Whether the service was the embedded emulator, so that nothing was spent. */
  readonly isRehearsal: boolean;
  /** Rows without an outcome yet, as summary.json counts them. */
  readonly toDo: number;
  /** Number of rows that have ended by summary.json, and whose lines are in no file: somebody has removed or cut it. */
  readonly lostRows: number;
  /** Rows that wait to be sent again and are in an earlier manifest; absent without `withRowsToGo`. */
  readonly toGoEarlier?: readonly RowsOfManifest[];
  /** The caps that had no room for a row, if the latest start ended for that reason. */
  readonly caps: readonly ReachedCap[];
  /** The sentence about the end of the latest start; empty if it was cut off, or a folder has none. */
  readonly reason: string;
  /** The latest cap; `undefined` if there is none. */
  readonly cap: MicroDollars | undefined;
  /** The times in which the run worked, in order. */
  readonly spans: readonly Span[];
  readonly workedMs: number;
}

/** Reads the files of a run once. It keeps figures and positions, not the rows. */
export async function surveyRun(disk: Disk, folder: string): Promise<Survey> {
  const [story, money] = [await readStory(disk, folder), await sumMoney(disk, folder)];
  const earlier = await indexEarlier(disk, folder);
  const known = {
    earlier,
    reopened: story.reopened,
    originalRows: await originalRows(disk, folder, story),
    manifestAt: laterManifestAt(story.starts),
  };
  // Before the lines: a run that goes on writes lines that it does not count yet, and never the other way round.
  const summary = await readSummary(disk, join(folder, 'summary.json'));
  const rows = await surveyRows(disk, folder, known);
  const manifest = story.starts[0]?.manifest ?? '';
  const cap = story.starts.at(-1)?.cap;
  const spans = spansOf(story, rows.places.endTimes);
  return {
    folder,
    another: await anotherFolder(disk, folder),
    key: keyOf(story, rows),
    name: manifest === '' ? basename(folder) : basename(manifest),
    manifest,
    rows,
    earlier,
    money,
    byValue: await sumsByValue(disk, folder, summary),
    story,
    prices: pricesOf(summary, rows),
    heldRows: countOfCode(rows, 'unknown'),
    undownloaded: countOfCode(rows, 'download'),
    isRehearsal: story.starts.at(-1)?.local === true,
    toDo: await rowsToDo(disk, folder, { summary, ended: rows.places.length - rows.toGo }),
    // During a start, and after its crash, summary.json may count rows that it has reopened.
    lostRows: story.isAtRest ? lostOf(rows, endedRows(summary)) : 0,
    caps: reachedCaps(summary),
    reason: textOr(lastStartOf(summary)['reason']),
    cap: cap === undefined ? undefined : toMicroDollars(cap),
    spans,
    workedMs: spans.reduce((sum, { from, to }) => sum + to - from, 0),
  };
}

/** A line that cannot be read is counted as that. */
function lostOf({ places, skipped }: RowSurvey, ended = 0): number {
  return Math.max(0, ended - places.length - skipped);
}

function countOfCode({ causes }: RowSurvey, wanted: FailureCode): number {
  return causes.filter(({ code }) => code === wanted).reduce((sum, { count }) => sum + count, 0);
}

/** A key that is the same for every report of one run, even if its folder is moved. */
function keyOf(story: RunStory, rows: RowSurvey): string {
  const first = story.starts[0];
  const identity = first === undefined ? `${firstEnd(rows)}` : `${first.at} ${first.baseUrl}`;
  return createHash('sha256').update(identity).digest('hex').slice(0, 16);
}

function firstEnd({ places }: RowSurvey): number {
  let first = Infinity;
  for (const at of places.endTimes) first = Math.min(first, at);
  return Number.isFinite(first) ? first : 0;
}

async function readSummary(disk: Disk, path: string): Promise<JsonObject> {
  return parseObject((await readIfThere(disk, path))?.toString() ?? '') ?? {};
}

/** Counts rows to do. During a run summary.json lags behind the ended rows, and a start that was killed at once has not written it. */
async function rowsToDo(
  disk: Disk,
  folder: string,
  { summary, ended }: { readonly summary: JsonObject; readonly ended: number },
): Promise<number> {
  const endedThen = endedRows(summary);
  if (endedThen === undefined) return Math.max(0, ((await lastLiveState(disk, folder))?.rows ?? 0) - ended);
  const { toDo } = summary['rows'] as JsonObject;
  return Math.max(0, numberOr(toDo, 0) - Math.max(0, ended - endedThen));
}

/** The rows that had ended when summary.json was written; `undefined` if it does not have them. */
function endedRows({ rows }: JsonObject): number | undefined {
  return isPlainObject(rows) ? numberOr(rows['completed'], 0) + numberOr(rows['failed'], 0) : undefined;
}

function lastStartOf(summary: JsonObject): JsonObject {
  return objectIn(summary, 'thisStart');
}

/** Folders of older versions have no reached caps. */
function reachedCaps(summary: JsonObject): ReachedCap[] {
  const last = lastStartOf(summary);
  const caps: unknown[] = Array.isArray(last['caps']) ? last['caps'] : [];
  return caps.filter(
    (cap): cap is ReachedCap =>
      isPlainObject(cap) && typeof cap['option'] === 'string' && typeof cap['usd'] === 'number',
  );
}

/** The prices that the next start reserves: from the run's table, or else the service's list, or the highest reported one. */
function pricesOf(summary: JsonObject, rows: RowSurvey): Readonly<Record<string, MicroDollars>> {
  const table = objectIn(summary, 'priceTable');
  const inMicros = (prices: Iterable<readonly [string, number]>) =>
    Object.fromEntries([...prices].map(([label, usd]) => [label, toMicroDollars(usd)]));
  const listed = { ...imageEditPrices, ...inMicros(numbersIn(summary['prices'])) };
  return reservedPrices(
    reservedPrices(listed, inMicros(rows.pricesSeen)),
    inMicros(numbersIn(table['reported'])),
  );
}

function numbersIn(value: unknown): [string, number][] {
  return Object.entries(isPlainObject(value) ? value : {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
}

export const earlierFile = 'earlier.jsonl';

/** The positions of earlier results by row, oldest first. */
async function indexEarlier(disk: Disk, folder: string): Promise<Map<string, Place[]>> {
  const index = new Map<string, Place[]>();
  await parseJsonl(disk, join(folder, earlierFile), ({ id }, offset, length) => {
    if (typeof id !== 'string') return;
    const places = index.get(id) ?? [];
    places.push({ file: earlierFile, offset, length });
    index.set(id, places);
  });
  return index;
}
