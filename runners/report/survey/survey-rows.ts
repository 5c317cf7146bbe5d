import { join } from 'node:path';
import { failureCodes, type FailureCode } from '../../../src/contract/failure-code.js';
import type { Disk } from '../../batch/disk/disk.js';
import { isObject, readJsonl, type JsonObject } from '../read/read-jsonl.js';
import { causeOf } from './cause-of.js';
import { numberOr } from './run-story.js';

export type RowFile = 'results.jsonl' | 'failures.jsonl';

/** Where the line of a row stands, and what kind of row it is. */
export interface RowPlace {
  readonly row: number;
  readonly file: RowFile;
  readonly offset: number;
  readonly length: number;
  /** Index into the causes, from 1; 0: completed. */
  readonly cause: number;
  /** Earlier pictures stand behind it. */
  readonly again: boolean;
}

/** Rows that failed for the same reason. */
export interface Cause {
  readonly code: FailureCode;
  readonly httpStatus?: number;
  /** With `…` where the rows differ; word for word when there is one row. */
  readonly message: string;
  readonly count: number;
  /** The first of them, in the order of the file. */
  readonly ids: readonly string[];
}

export interface RowSurvey {
  /** In the order of the manifest. */
  readonly places: readonly RowPlace[];
  /** The most frequent first. */
  readonly causes: readonly Cause[];
  readonly completed: number;
  /** ms, of completed rows. */
  readonly delays: readonly number[];
  readonly executions: readonly number[];
  /** When each row ended, with its cause. */
  readonly ends: readonly { at: number; cause: number }[];
  /** Pictures that results.jsonl names, and their bytes. */
  readonly pictures: { count: number; bytes: number };
  /** The price of one picture as the last row of each resolution had it, in USD. */
  readonly pricesSeen: ReadonlyMap<string, number>;
  /** Lines that could not be read. */
  readonly skipped: number;
}

const idsKept = 60;
const causesKept = 200;

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

/** One pass over the rows that ended; keeps numbers and places, not the rows. */
export async function surveyRows(
  disk: Disk,
  folder: string,
  boughtAgain: ReadonlySet<string>,
): Promise<RowSurvey> {
  const survey = {
    places: [],
    causes: [],
    completed: 0,
    delays: [],
    executions: [],
    ends: [],
    pictures: { count: 0, bytes: 0 },
    pricesSeen: new Map<string, number>(),
    skipped: 0,
  } as unknown as Building;
  const groups = new Map<string, number>();
  const skip = (): void => {
    survey.skipped++;
  };
  for await (const { value, offset, length } of readJsonl(disk, join(folder, 'results.jsonl'), skip)) {
    addResult(survey, value);
    const again = boughtAgain.has(textOr(value['id']));
    survey.places.push({
      row: numberOr(value['row'], 0),
      file: 'results.jsonl',
      offset,
      length,
      cause: 0,
      again,
    });
  }
  for await (const { value, offset, length } of readJsonl(disk, join(folder, 'failures.jsonl'), skip)) {
    const facts = isObject(value['millrace']) ? value['millrace'] : {};
    const cause = addFailure(survey, groups, value);
    survey.ends.push({ at: Date.parse(textOr(facts['settledAt'])), cause });
    survey.places.push({
      row: numberOr(facts['row'], 0),
      file: 'failures.jsonl',
      offset,
      length,
      cause,
      again: false,
    });
  }
  survey.ends = survey.ends.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => a.at - b.at);
  survey.places.sort((a, b) => a.row - b.row);
  return mostFrequentFirst(survey);
}

type Building = Omit<Mutable<RowSurvey>, 'pricesSeen' | 'causes'> & {
  pricesSeen: Map<string, number>;
  causes: Mutable<Cause>[];
};

function addResult(survey: Building, result: JsonObject): void {
  survey.completed++;
  const image = result['image'];
  if (isObject(image)) {
    survey.pictures.count++;
    survey.pictures.bytes += numberOr(image['bytes'], 0);
  }
  pushNumber(survey.delays, result['delayTime']);
  pushNumber(survey.executions, result['executionTime']);
  survey.ends.push({ at: Date.parse(textOr(result['settledAt'])), cause: 0 });
  const request = isObject(result['request']) ? result['request'] : {};
  const input = isObject(request['input']) ? request['input'] : request;
  const cost = result['cost'];
  if (result['kind'] === 'edit' && typeof cost === 'number')
    survey.pricesSeen.set(textOr(input['resolution']) || '1k', cost);
}

function addFailure(survey: Building, groups: Map<string, number>, failure: JsonObject): number {
  const error = isObject(failure['error']) ? failure['error'] : {};
  const code = codeOf(error['code']);
  const httpStatus = numberOr(error['httpStatus'], undefined);
  const full = groups.size >= causesKept;
  const wording = causeOf(error);
  const key = `${code} ${httpStatus ?? ''} ${wording}`;
  const group = full && !groups.has(key) ? `${code} others` : key;
  const index = groups.get(group) ?? survey.causes.length;
  groups.set(group, index);
  const cause = (survey.causes[index] ??= {
    code,
    ...(httpStatus === undefined ? {} : { httpStatus }),
    message: textOr(error['message']),
    count: 0,
    ids: [],
  });
  cause.count++;
  if (cause.count === 2) cause.message = group === key ? wording : 'other causes';
  if (cause.ids.length < idsKept) cause.ids.push(textOr(failure['id']));
  return index + 1;
}

/** Sorts the causes and gives each row the new place of its cause. */
function mostFrequentFirst(survey: Building): RowSurvey {
  const order = [...survey.causes.entries()].sort(([, a], [, b]) => b.count - a.count);
  const placeOf = new Map(order.map(([old], place) => [old + 1, place + 1]));
  const moved = <T extends { cause: number }>(row: T): T =>
    row.cause === 0 ? row : { ...row, cause: placeOf.get(row.cause) ?? 0 };
  return {
    ...survey,
    places: survey.places.map(moved),
    ends: survey.ends.map(moved),
    causes: order.map(([, cause]) => cause),
  };
}

function codeOf(code: unknown): FailureCode {
  return typeof code === 'string' && Object.hasOwn(failureCodes, code) ? (code as FailureCode) : 'unknown';
}

function pushNumber(list: number[], value: unknown): void {
  if (typeof value === 'number' && Number.isFinite(value)) list.push(value);
}

export function textOr(value: unknown, other = ''): string {
  return typeof value === 'string' ? value : other;
}
