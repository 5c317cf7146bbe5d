import { join } from 'node:path';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import type { Disk } from '../../batch/disk/disk.js';
import { type JsonObject, numberOr, objectIn, textOr } from '../read/json-object.js';
import { objectsWith, readJsonl, recordKind } from '../read/read-jsonl.js';
import type { StartFacts } from '../messages/run-again.js';

/** The run as a whole, from its journal. Times in ms since the epoch. */
export interface RunStory {
  readonly starts: readonly RunStart[];
  /** The ends of starts; fewer than starts during a run or after a crash. */
  readonly stops: readonly { at: number; exitCode: number }[];
  /** Whether the latest start has come to its end: not during it, nor after its crash. By the order of the records, because a clock may be set back. */
  readonly isAtRest: boolean;
  /**
   * Rows that had completed and were reopened, and whether a new result of them is still awaited. Until it is there, their
   * line in results.jsonl is the one before; during a run both are.
   */
  readonly reopened: ReadonlyMap<string, { readonly isAwaited: boolean }>;
}

export interface RunStart extends StartFacts {
  readonly at: number;
  /** Names of the columns that multiplied its rows. */
  readonly axes: readonly string[];
}

/**
 * Only records with this text are parsed, because most of the journal is not about the run as a whole. It does not begin with a
 * quote: a search stops at each occurrence of the first character.
 */
const startOrStop = Buffer.from('k":"st');
const intent = Buffer.from('k":"intent"');
const reopen = Buffer.from('k":"reopen"');
const outcome = Buffer.from('k":"outcome"');

export async function readStory(disk: Disk, folder: string): Promise<RunStory> {
  const starts: NotedStart[] = [];
  const stops: { at: number; exitCode: number }[] = [];
  let isAtRest = true;
  const reopened = new Map<string, ReopenedRow>();
  let sentWith: string[] | undefined;
  const texts = (): Buffer[] => [
    ...[startOrStop, reopen],
    ...(reopened.size > 0 ? [outcome] : []),
    ...(sentWith === undefined ? [intent] : []),
  ];
  for await (const value of objectsWith(disk, join(folder, 'journal.jsonl'), texts)) {
    if (value['k'] === 'start') starts.push(startOf(value));
    if (value['k'] === 'intent') sentWith ??= optionsOfIntent(value);
    if (value['k'] === 'stop')
      stops.push({ at: numberOr(value['at'], 0), exitCode: numberOr(value['exitCode'], 0) });
    if (value['k'] === 'start' || value['k'] === 'stop') isAtRest = value['k'] === 'stop';
    noteReopened(reopened, value);
  }
  return { starts: starts.map((start) => startWith(start, sentWith ?? [])), stops, isAtRest, reopened };
}

/** The numbers of the records with which a row was reopened and completed last, because records come in no particular order. */
class ReopenedRow {
  reopened = 0;
  completed = 0;

  get isAwaited(): boolean {
    return this.completed < this.reopened;
  }
}

function noteReopened(rows: Map<string, ReopenedRow>, { k, id, n, why, status }: JsonObject): void {
  if (typeof id !== 'string') return;
  const row = rows.get(id) ?? new ReopenedRow();
  if (k === 'reopen' && (why === 'redo' || why === 'refetch')) {
    row.reopened = Math.max(row.reopened, numberOr(n, 0));
    rows.set(id, row);
  }
  if (k === 'outcome' && status === 'completed') row.completed = Math.max(row.completed, numberOr(n, 0));
}

/** The run's first start. The journal begins with it, or with the cap that it sets. */
export async function readFirstStart(disk: Disk, folder: string): Promise<RunStart | undefined> {
  let sentWith: string[] | undefined;
  let first: NotedStart | undefined;
  for await (const value of readJsonl(disk, join(folder, 'journal.jsonl'))) {
    if (value['k'] === 'start') first ??= startOf(value);
    if (value['k'] === 'intent') sentWith = optionsOfIntent(value);
    if (first?.repeat !== undefined || sentWith !== undefined) break;
  }
  return first === undefined ? undefined : startWith(first, sentWith ?? []);
}

/** The manifest in force at a time, in ms since the epoch; `undefined` for the run's first one. */
export type ManifestAt = (at: number) => string | undefined;

export interface RowsOfManifest {
  /** Its path; `undefined` for the run's first one. */
  readonly manifest: string | undefined;
  readonly rows: number;
}

export function haveOneManifest(starts: RunStory['starts']): boolean {
  return starts.every(({ manifest }) => manifest === starts[0]?.manifest);
}

/** The manifest of the start in which a row was sent or ended, by that time. */
export function laterManifestAt(starts: RunStory['starts']): ManifestAt {
  if (haveOneManifest(starts)) return () => undefined;
  const first = starts[0]?.manifest;
  return (at) => {
    const manifest = starts.findLast((start) => start.at <= at)?.manifest;
    return manifest === first ? undefined : manifest;
  };
}

/** `repeat` is absent in folders of 0.1.0. */
type NotedStart = Omit<RunStart, 'repeat'> & { readonly repeat: RunStart['repeat'] | undefined };

/** @param sentWith options that follow from the first sent row, for a start that did not note them */
function startWith({ repeat, ...start }: NotedStart, sentWith: readonly string[]): RunStart {
  return { ...start, repeat: repeat ?? { manifest: [], others: sentWith } };
}

function startOf(record: JsonObject): NotedStart {
  const settings = objectIn(record, 'settings');
  const identity = objectIn(record, 'identity');
  const maxCost = settings['maxCostUsd'] ?? settings['maxCost'];
  return {
    at: numberOr(record['at'], 0),
    manifest: textOr(record['manifest']),
    baseUrl: textOr(identity['baseUrl']),
    lbBaseUrl: textOr(identity['lbBaseUrl']),
    local: identity['local'] === true,
    repeat: repeatOf(settings['repeat']),
    axes: axisNames(settings['axes']),
    // A cap of the configuration need not be repeated.
    maxCost: typeof maxCost === 'number' && settings['defaultMaxCostUsd'] === undefined ? maxCost : undefined,
    ...(typeof maxCost === 'number' ? { cap: maxCost } : {}),
    ...(settings['changed'] === 'redo' && { redoes: true }),
  };
}

function repeatOf(noted: unknown): RunStart['repeat'] | undefined {
  if (!isPlainObject(noted)) return undefined;
  const { manifest, others } = noted;
  return isWords(manifest) && isWords(others) ? { manifest, others } : undefined;
}

function axisNames(noted: unknown): string[] {
  const axes: unknown[] = Array.isArray(noted) ? noted : [];
  return axes.flatMap((axis) =>
    isPlainObject(axis) && typeof axis['name'] === 'string' ? [axis['name']] : [],
  );
}

function isWords(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}

/** Options for the endpoint, unless the row names it, and for the mode, unless it is the default of the row's kind. */
function optionsOfIntent(intent: JsonObject): string[] {
  const { kind, mode, endpoint } = intent;
  const isDefault = typeof mode !== 'string' || mode === (kind === 'edit' ? 'sync' : 'async');
  const isNamed = textOr(objectIn(intent, 'cells')['endpoint']) !== '';
  return [
    ...(typeof endpoint === 'string' && endpoint !== '' && !isNamed ? ['--endpoint', endpoint] : []),
    ...(isDefault || kind === 'route' ? [] : ['--mode', mode]),
  ];
}

/**
 * The numbers in the run's first manifest, by id, of rows that a later manifest sent again under other numbers (such as a
 * manifest of rejected rows). Empty if every start had the same manifest.
 */
export async function originalRows(
  disk: Disk,
  folder: string,
  story: RunStory,
): Promise<ReadonlyMap<string, number>> {
  const [first] = story.starts;
  const rows = new Map<string, number>();
  if (first === undefined || haveOneManifest(story.starts)) return rows;
  const moved = new Set<string>();
  let manifest = first.manifest;
  for await (const value of sends(disk, folder)) {
    if (value['k'] === 'start') manifest = String(value['manifest']);
    else if (value['k'] === 'intent' && manifest !== first.manifest) moved.add(String(value['id']));
  }
  for await (const value of sends(disk, folder)) {
    const id = String(value['id']);
    if (value['k'] === 'intent' && moved.has(id) && !rows.has(id)) rows.set(id, numberOr(value['row'], 0));
  }
  return rows;
}

function sends(disk: Disk, folder: string): ReturnType<typeof readJsonl> {
  const wanted = (line: Buffer): boolean => ['intent', 'start', undefined].includes(recordKind(line));
  return readJsonl(disk, join(folder, 'journal.jsonl'), wanted);
}

/** A stretch of time, in ms since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A pause that is shorter than this part of the working time gets no break in the charts. */
const noticeable = 0.15;

/**
 * The times in which a run worked: from each start to its stop or, without one, to the last row that ended before the next
 * start. Starts with only a short pause between them are joined.
 *
 * @param ends When rows ended, in any order.
 */
export function spansOf(story: RunStory, ends: Iterable<number>): Span[] {
  const begins = story.starts.map(({ at }) => at);
  if (begins.length === 0) for (const at of ends) begins[0] = Math.min(begins[0] ?? at, at);
  const starts = begins.map((from, index) => ({ from, next: begins[index + 1] ?? Infinity }));
  const lastEnds = lastEndOfEach(starts, ends);
  return joinClose(
    starts.map(({ from, next }, index) => {
      const stop = story.stops.find(({ at }) => at >= from && at <= next)?.at;
      // A row that was settled by hand, or whose picture was fetched, after the stop is no work of that start.
      return { from, to: stop ?? Math.max(from, lastEnds[index] ?? from) };
    }),
  );
}

/** Consecutive rows usually belong to the same start. */
function lastEndOfEach(
  starts: readonly { from: number; next: number }[],
  ends: Iterable<number>,
): (number | undefined)[] {
  const last: (number | undefined)[] = [];
  let index = -1;
  const isIn = (start: { from: number; next: number } | undefined, at: number): boolean =>
    start !== undefined && at >= start.from && at < start.next;
  for (const at of ends) {
    if (!isIn(starts[index], at)) index = starts.findIndex((start) => isIn(start, at));
    if (index >= 0) last[index] = Math.max(last[index] ?? at, at);
  }
  return last;
}

function joinClose(spans: readonly Span[]): Span[] {
  const worked = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const joined: Span[] = [];
  for (const span of spans) {
    const before = joined.at(-1);
    if (before !== undefined && span.from - before.to <= worked * noticeable)
      joined[joined.length - 1] = { from: before.from, to: span.to };
    else joined.push(span);
  }
  return joined.filter(({ from, to }, index) => to > from || index === 0);
}
