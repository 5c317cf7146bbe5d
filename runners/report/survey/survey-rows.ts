import { join } from 'node:path';
import { failureCodes, type FailureCode, type Paid } from '../../../src/contract/failure-code.js';
import type { Disk } from '../../batch/disk/disk.js';
import { IsoTimes } from '../read/iso-time.js';
import { ObjectScanner } from '../read/object-scanner.js';
import { type JsonObject, numberOr, objectIn } from '../read/json-object.js';
import { parseJsonl, scanJsonl } from '../read/read-jsonl.js';
import { groupFailures, type FailureGroup, type RowFailure } from '../messages/group-failures.js';
import { safeImagePath } from '../rows/picture-facts.js';
import { imagesOf } from '../rows/row-of-line.js';
import { NumberList } from './number-list.js';
import { RowPlaces } from './row-places.js';

export interface RowSurvey {
  /** In the order of the manifest. */
  readonly places: RowPlaces;
  /** The most frequent first. */
  readonly causes: readonly FailureGroup[];
  readonly completed: number;
  /** Completed rows that have a picture. */
  readonly pictures: number;
  /** ms, of completed rows, the shortest first. */
  readonly delays: ArrayLike<number>;
  readonly executions: ArrayLike<number>;
  /** The dearest price that a picture of each resolution had, in USD. */
  readonly pricesSeen: ReadonlyMap<string, number>;
  /** Lines that could not be read. */
  readonly skipped: number;
}

/** What the survey reads of a result; of all else it makes nothing. */
const resultPaths = [
  ...[['id'], ['row'], ['kind'], ['image'], ['cost'], ['delayTime'], ['executionTime'], ['settledAt']],
  ...[
    ['request', 'input', 'resolution'],
    ['request', 'input', 'images'],
    ['image', 'path'],
  ],
];
const result = {
  ...{ id: 0, row: 1, kind: 2, image: 3, cost: 4, delayTime: 5, executionTime: 6, settledAt: 7 },
  ...{ resolution: 8, images: 9, path: 10 },
} as const;

type ManifestAt = (at: number) => string | undefined;

/** What other files say of some rows. */
export interface KnownRows {
  /** Ids with earlier pictures. */
  readonly boughtAgain: Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;
  /** Row numbers by id where they are not those of the line. */
  readonly originalRows: ReadonlyMap<string, number>;
  /** The manifest of a row that ended at this time, if it is not the run's first. */
  readonly manifestAt: ManifestAt;
}

/** One pass over the rows that ended; keeps numbers and places, not the rows. */
export async function surveyRows(disk: Disk, folder: string, known: KnownRows): Promise<RowSurvey> {
  const tally = new RowTally(known);
  const skipped = (): void => tally.skip();
  await scanJsonl(disk, join(folder, 'results.jsonl'), new ObjectScanner(resultPaths), {
    take: (line, offset, length) => tally.addResult(line, offset, length),
    skipped,
  });
  await parseJsonl(disk, join(folder, 'failures.jsonl'), {
    take: (line, offset, length) => tally.addFailure(line, offset, length),
    skipped,
  });
  return tally.survey();
}

/** The failures of a run by manifest and cause, the most frequent first. */
export async function failureGroups(
  disk: Disk,
  folder: string,
  manifestAt: ManifestAt,
): Promise<FailureGroup[]> {
  const groups = groupFailures();
  await parseJsonl(disk, join(folder, 'failures.jsonl'), {
    take: (line) => {
      const facts = objectIn(line, 'millrace');
      groups.take(failureOf(line, facts, timeOf(facts['settledAt']), manifestAt));
    },
    skipped: () => undefined,
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
  readonly #times = new IsoTimes();
  #completed = 0;
  #pictures = 0;
  #skipped = 0;

  constructor(known: KnownRows) {
    this.#known = known;
  }

  skip(): void {
    this.#skipped++;
  }

  addResult(line: ObjectScanner, offset: number, length: number): void {
    this.#completed++;
    if (line.isObject(result.image)) this.#pictures++;
    pushNumber(this.#delays, line.number(result.delayTime));
    pushNumber(this.#executions, line.number(result.executionTime));
    const at = line.time(result.settledAt, this.#times) || 0;
    this.#notePrice(line);
    const { boughtAgain, originalRows } = this.#known;
    const id = boughtAgain.size + originalRows.size > 0 ? (line.text(result.id) ?? '') : '';
    const again = boughtAgain.has(id);
    const row = originalRows.get(id) ?? line.number(result.row) ?? 0;
    const isSaved = safeImagePath(line.text(result.path)) !== undefined;
    const namesFiles = mayNameFiles(line.raw(result.images));
    const images = line.extentOf(result.images);
    const file = 'results.jsonl';
    this.#places.add({ row, file, offset, length, cause: 0, again, isSaved, namesFiles, images, at });
  }

  addFailure(value: JsonObject, offset: number, length: number): void {
    const facts = objectIn(value, 'millrace');
    const at = timeOf(facts['settledAt']);
    const cause = this.#groups.take(failureOf(value, facts, at, this.#known.manifestAt)) + 1;
    const row = this.#rowOf(value, facts['row']);
    const namesFiles = imagesOf(value).some((image) => mayNameFiles(`["${image}"]`));
    const images = { at: 0, length: 0 };
    const found = { cause, again: false, isSaved: false, namesFiles, images, at };
    this.#places.add({ row, file: 'failures.jsonl', offset, length, ...found });
  }

  /** Sorts the rows by the manifest and the causes by their count, and gives each row the new place of its cause. */
  survey(): RowSurvey {
    const order = [...this.#groups.inOrder().entries()].sort(([, a], [, b]) => b.count - a.count);
    const placeOf = new Map(order.map(([old], place) => [old + 1, place + 1]));
    return {
      places: this.#places.arrange(placeOf),
      causes: order.map(([, cause]) => cause),
      completed: this.#completed,
      pictures: this.#pictures,
      delays: this.#delays.sorted(),
      executions: this.#executions.sorted(),
      pricesSeen: this.#pricesSeen,
      skipped: this.#skipped,
    };
  }

  #rowOf(line: JsonObject, row: unknown): number {
    return this.#known.originalRows.get(textOr(line['id'])) ?? numberOr(row, 0);
  }

  #notePrice(line: ObjectScanner): void {
    const cost = line.number(result.cost);
    if (cost === undefined || line.text(result.kind) !== 'edit') return;
    const resolution = line.text(result.resolution) || '1k';
    this.#pricesSeen.set(resolution, Math.max(cost, this.#pricesSeen.get(resolution) ?? 0));
  }
}

/** Rehearsals and uploads name pictures by addresses that were files. */
function mayNameFiles(images: string): boolean {
  return images !== '' && (!images.startsWith('["http') || !remote.test(images));
}

const remote = /^\["https?:\/\/(?!127\.0\.0\.1|localhost|\[::1\])[^"\\]*"\]$/;

function failureOf(failure: JsonObject, facts: JsonObject, at: number, manifestAt: ManifestAt): RowFailure {
  const error = objectIn(failure, 'error');
  const code = codeOf(error['code']);
  return {
    id: code === 'invalid-row' ? fedId(textOr(failure['id'])) : textOr(failure['id']),
    code,
    message: textOr(error['message']),
    httpStatus: numberOr(error['httpStatus'], undefined),
    paid: paidOf(error['paid']),
    at,
    manifest: manifestAt(at),
    resolution: facts['kind'] === 'edit' ? textOr(failure['resolution']) || '1k' : undefined,
  };
}

function paidOf(paid: unknown): Paid | undefined {
  return paid === 'no' || paid === 'maybe' || paid === 'yes' ? paid : undefined;
}

/** A wrong row that arrived does not claim its id: it is kept under one with a hash behind it. */
function fedId(id: string): string {
  return id.replace(/~[\da-f]{12}$/, '');
}

function codeOf(code: unknown): FailureCode {
  return typeof code === 'string' && Object.hasOwn(failureCodes, code) ? (code as FailureCode) : 'unknown';
}

/** 0 when it is unknown. */
function timeOf(settledAt: unknown): number {
  const at = Date.parse(textOr(settledAt));
  return Number.isNaN(at) ? 0 : at;
}

function pushNumber(list: NumberList, value: number | undefined): void {
  if (value !== undefined) list.push(value);
}

export function textOr(value: unknown, other = ''): string {
  return typeof value === 'string' ? value : other;
}
