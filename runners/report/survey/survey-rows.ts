import { join } from 'node:path';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import type { Paid } from '../../../src/contract/failure-code.js';
import type { Disk } from '../../batch/disk/disk.js';
import { type JsonObject, numberOr, objectIn, textOr } from '../read/json-object.js';
import { parseJsonl } from '../read/read-jsonl.js';
import { groupFailures, type FailureGroup, type RowFailure } from '../messages/group-failures.js';
import { savedPath } from '../rows/picture-facts.js';
import { codeOf, imagesOf } from '../rows/row-of-line.js';
import { NumberList } from './number-list.js';
import { RowPlaces } from './row-places.js';
import type { ManifestAt, RunStory } from './run-story.js';
import type { Place } from '../read/read-places.js';

export interface RowSurvey {
  /** The rows in the order of the manifest. */
  readonly places: RowPlaces;
  /** The most frequent first. */
  readonly causes: readonly FailureGroup[];
  readonly completed: number;
  /** Rows whose result is shown until a new one of them is there: they are not counted as completed. */
  readonly toGo: number;
  readonly pictures: number;
  /** In ms, of completed rows, in ascending order. */
  readonly delays: ArrayLike<number>;
  readonly executions: ArrayLike<number>;
  /** The highest price of a picture at each resolution, in USD. */
  readonly pricesSeen: ReadonlyMap<string, number>;
  /** Number of lines that could not be read. */
  readonly skipped: number;
}

/** Facts about some rows from other files. */
export interface KnownRows {
  /** The positions of earlier results by row, oldest first; the latest result of a row that has failed since is added. */
  readonly earlier: Map<string, Place[]>;
  readonly reopened: RunStory['reopened'];
  /** Row numbers by id, if they differ from the number in the line. */
  readonly originalRows: ReadonlyMap<string, number>;
  /** The manifest of a row that ended at this time, if it is not the run's first. */
  readonly manifestAt: ManifestAt;
}

/** One pass over the ended rows. It keeps numbers and positions, not the rows. */
export async function surveyRows(disk: Disk, folder: string, known: KnownRows): Promise<RowSurvey> {
  const tally = new RowTally(known);
  const skipped = (): void => tally.skip();
  const results = join(folder, 'results.jsonl');
  await parseJsonl(disk, results, (...line) => tally.addResult(...line), skipped);
  await parseJsonl(disk, join(folder, 'failures.jsonl'), (...line) => tally.addFailure(...line), skipped);
  if (tally.hasMore) await parseJsonl(disk, results, (...line) => tally.addLatest(...line));
  return tally.survey();
}

/** The failures of a run by manifest and cause, the most frequent first. */
export async function failureGroups(
  disk: Disk,
  folder: string,
  manifestAt: ManifestAt,
): Promise<FailureGroup[]> {
  const groups = groupFailures();
  await parseJsonl(disk, join(folder, 'failures.jsonl'), (line) => {
    const facts = objectIn(line, 'millrace');
    groups.take(failureOf(line, facts, timeOf(facts['settledAt']), manifestAt));
  });
  return groups.list();
}

class RowTally {
  readonly #known: KnownRows;
  readonly #places = new RowPlaces();
  readonly #groups = groupFailures();
  readonly #delays = new NumberList();
  readonly #executions = new NumberList();
  readonly #pricesSeen = new Map<string, number>();
  /** The latest result of each row that may have several. */
  readonly #latest = new Map<string, Place>();
  #completed = 0;
  #toGo = 0;
  #pictures = 0;
  #skipped = 0;

  constructor(known: KnownRows) {
    this.#known = known;
  }

  skip(): void {
    this.#skipped++;
  }

  /** Whether results were left for `addLatest`. */
  get hasMore(): boolean {
    return this.#latest.size > 0;
  }

  /** Adds a row with its result. If it may have several, the latest one is only known at the end, and counts if the row has no failure. */
  addResult(line: JsonObject, offset: number, length: number): void {
    const { earlier, reopened } = this.#known;
    const id = textOr(line['id']);
    if (earlier.has(id) || reopened.has(id)) this.#latest.set(id, { file: 'results.jsonl', offset, length });
    else this.#add(line, offset, length);
  }

  addLatest(line: JsonObject, offset: number, length: number): void {
    if (this.#latest.get(textOr(line['id']))?.offset === offset) this.#add(line, offset, length);
  }

  #add(line: JsonObject, offset: number, length: number): void {
    const { image } = line;
    if (isPlainObject(image)) this.#pictures++;
    pushNumber(this.#delays, line['delayTime']);
    pushNumber(this.#executions, line['executionTime']);
    const input = objectIn(objectIn(line, 'request'), 'input');
    this.#notePrice(line, input);
    const { earlier, originalRows, reopened } = this.#known;
    const id = textOr(line['id']);
    const toGo = reopened.get(id)?.isAwaited === true;
    if (toGo) this.#toGo++;
    else this.#completed++;
    this.#places.add({
      row: originalRows.get(id) ?? numberOr(line['row'], 0),
      file: 'results.jsonl',
      offset,
      length,
      cause: 0,
      again: earlier.has(id),
      toGo,
      isSaved: savedPath(image) !== undefined,
      namesFiles: namesFiles(input),
      at: timeOf(line['settledAt']),
    });
  }

  addFailure(value: JsonObject, offset: number, length: number): void {
    const facts = objectIn(value, 'millrace');
    const at = timeOf(facts['settledAt']);
    const cause = this.#groups.take(failureOf(value, facts, at, this.#known.manifestAt)) + 1;
    const id = textOr(value['id']);
    this.#places.add({
      row: this.#known.originalRows.get(id) ?? numberOr(facts['row'], 0),
      file: 'failures.jsonl',
      offset,
      length,
      cause,
      again: this.#hasEarlier(id),
      toGo: false,
      isSaved: false,
      namesFiles: namesFiles(value),
      at,
    });
  }

  /** Whether a failed row has earlier results, among which its latest one is now. */
  #hasEarlier(id: string): boolean {
    const { earlier } = this.#known;
    const latest = this.#latest.get(id);
    this.#latest.delete(id);
    if (latest !== undefined) earlier.set(id, [...(earlier.get(id) ?? []), latest]);
    return earlier.has(id);
  }

  /** Sorts the rows into the order of the manifest and the causes by their count, and updates the cause of each row. */
  survey(): RowSurvey {
    const order = [...this.#groups.inOrder().entries()].sort(([, a], [, b]) => b.count - a.count);
    const placeOf = new Map(order.map(([old], place) => [old + 1, place + 1]));
    return {
      places: this.#places.arrange(placeOf),
      causes: order.map(([, cause]) => cause),
      completed: this.#completed,
      toGo: this.#toGo,
      pictures: this.#pictures,
      delays: this.#delays.sorted(),
      executions: this.#executions.sorted(),
      pricesSeen: this.#pricesSeen,
      skipped: this.#skipped,
    };
  }

  #notePrice({ cost, kind }: JsonObject, input: JsonObject): void {
    if (typeof cost !== 'number' || kind !== 'edit') return;
    const resolution = textOr(input['resolution']) || '1k';
    this.#pricesSeen.set(resolution, Math.max(cost, this.#pricesSeen.get(resolution) ?? 0));
  }
}

/** Whether references may be files: rehearsals and uploads replace paths by addresses. */
function namesFiles(cells: JsonObject): boolean {
  return imagesOf(cells).some((image) => !remote.test(image));
}

const remote = /^https?:\/\/(?!127\.0\.0\.1|localhost|\[::1\])/;

function failureOf(failure: JsonObject, facts: JsonObject, at: number, manifestAt: ManifestAt): RowFailure {
  const error = objectIn(failure, 'error');
  const code = codeOf(error['code']);
  // The id of an arriving invalid row, which does not claim its own id: it is kept under an id with a hash at its end.
  return {
    id: code === 'invalid-row' ? textOr(failure['id']).replace(/~[\da-f]{12}$/, '') : textOr(failure['id']),
    code,
    message: textOr(error['message']),
    jobId: textOr(facts['jobId']),
    httpStatus: numberOr(error['httpStatus'], undefined),
    paid: paidOf(error['paid']),
    at,
    manifest: manifestAt(at),
    resolution: facts['kind'] === 'edit' ? textOr(failure['resolution']) || '1k' : undefined,
    endpoint: textOr(facts['endpoint']),
  };
}

function paidOf(paid: unknown): Paid | undefined {
  return paid === 'no' || paid === 'maybe' || paid === 'yes' ? paid : undefined;
}

/** 0 if it is unknown. */
function timeOf(settledAt: unknown): number {
  const at = Date.parse(textOr(settledAt));
  return Number.isNaN(at) ? 0 : at;
}

function pushNumber(list: NumberList, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) list.push(value);
}
