import { join } from 'node:path';
import { failureCodes, type FailureCode, type Paid } from '../../../src/contract/failure-code.js';
import type { Disk } from '../../batch/disk/disk.js';
import { isObject, type JsonObject, numberOr, type PlacedObject, readJsonl } from '../read/read-jsonl.js';
import { groupFailures, type FailureGroup, type RowFailure } from '../messages/group-failures.js';
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
  /** The price of one picture as the last row of each resolution had it, in USD. */
  readonly pricesSeen: ReadonlyMap<string, number>;
  /** Lines that could not be read. */
  readonly skipped: number;
}

/** What other files say of some rows. */
export interface KnownRows {
  /** Ids with earlier pictures. */
  readonly boughtAgain: { has(id: string): boolean };
  /** Row numbers by id where they are not those of the line. */
  readonly originalRows: ReadonlyMap<string, number>;
}

/** One pass over the rows that ended; keeps numbers and places, not the rows. */
export async function surveyRows(disk: Disk, folder: string, known: KnownRows): Promise<RowSurvey> {
  const tally = new RowTally(known);
  const skip = (): void => tally.skip();
  for await (const line of readJsonl(disk, join(folder, 'results.jsonl'), skip)) tally.addResult(line);
  for await (const line of readJsonl(disk, join(folder, 'failures.jsonl'), skip)) tally.addFailure(line);
  return tally.survey();
}

/** The failures of a run by cause, the most frequent first. */
export async function failureGroups(disk: Disk, folder: string): Promise<FailureGroup[]> {
  const groups = groupFailures();
  for await (const { value } of readJsonl(disk, join(folder, 'failures.jsonl'), () => undefined)) {
    const facts = isObject(value['millrace']) ? value['millrace'] : {};
    groups.take(failureOf(value, facts, timeOf(facts['settledAt'])));
  }
  return groups.list();
}

class RowTally {
  readonly #known: KnownRows;
  readonly #places = new RowPlaces();
  readonly #groups = groupFailures();
  readonly #delays = new NumberList();
  readonly #executions = new NumberList();
  readonly #pricesSeen = new Map<string, number>();
  #completed = 0;
  #pictures = 0;
  #skipped = 0;

  constructor(known: KnownRows) {
    this.#known = known;
  }

  skip(): void {
    this.#skipped++;
  }

  addResult({ value, offset, length }: PlacedObject): void {
    this.#completed++;
    if (isObject(value['image'])) this.#pictures++;
    pushNumber(this.#delays, value['delayTime']);
    pushNumber(this.#executions, value['executionTime']);
    const at = timeOf(value['settledAt']);
    this.#notePrice(value);
    const again = this.#known.boughtAgain.has(textOr(value['id']));
    const row = this.#rowOf(value, value['row']);
    this.#places.add({ row, file: 'results.jsonl', offset, length, cause: 0, again, at });
  }

  addFailure({ value, offset, length }: PlacedObject): void {
    const facts = isObject(value['millrace']) ? value['millrace'] : {};
    const at = timeOf(facts['settledAt']);
    const cause = this.#groups.take(failureOf(value, facts, at)) + 1;
    const row = this.#rowOf(value, facts['row']);
    this.#places.add({ row, file: 'failures.jsonl', offset, length, cause, again: false, at });
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

  #notePrice(result: JsonObject): void {
    const request = isObject(result['request']) ? result['request'] : {};
    const input = isObject(request['input']) ? request['input'] : {};
    const cost = result['cost'];
    if (result['kind'] === 'edit' && typeof cost === 'number')
      this.#pricesSeen.set(textOr(input['resolution']) || '1k', cost);
  }
}

function failureOf(failure: JsonObject, facts: JsonObject, at: number): RowFailure {
  const error = isObject(failure['error']) ? failure['error'] : {};
  const code = codeOf(error['code']);
  return {
    id: code === 'invalid-row' ? fedId(textOr(failure['id'])) : textOr(failure['id']),
    code,
    message: textOr(error['message']),
    httpStatus: numberOr(error['httpStatus'], undefined),
    paid: paidOf(error['paid']),
    at,
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

/** 0 where it is not said. */
function timeOf(settledAt: unknown): number {
  const at = Date.parse(textOr(settledAt));
  return Number.isNaN(at) ? 0 : at;
}

function pushNumber(list: NumberList, value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) list.push(value);
}

export function textOr(value: unknown, other = ''): string {
  return typeof value === 'string' ? value : other;
}
