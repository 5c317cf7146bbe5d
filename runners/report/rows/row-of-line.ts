import { failureCodes, type FailureCode, type Paid } from '../../../src/contract/failure-code.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { editFields } from '../../batch/manifest/columns/manifest-fields.js';
import type { PageError, PageRow } from '../page-data.js';
import { isObject, type JsonObject } from '../read/read-jsonl.js';
import { manifestImage } from './manifest-image.js';

/** A row as the gallery shows it, but for its pictures: those are added by whoever knows where they lie. */
export type BareRow = Omit<PageRow, 'references' | 'picture' | 'earlier'>;

/** Longer rows (base64 pictures in a manifest) are shown, and cannot be repeated from the report. */
const longestCells = 16_000;
const longestOutput = 1500;

/**
 * A line of results.jsonl.
 *
 * @param isLocal The run was a rehearsal against the embedded emulator.
 */
export function rowOfResult(result: JsonObject, isLocal: boolean): BareRow {
  const output = result['image'] === undefined ? textOutput(result['output']) : undefined;
  return defined({
    ...commonFacts(result, result),
    status: 'completed' as const,
    cells: kept(cellsOfResult(result, isLocal)),
    output,
    cost: typeof result['cost'] === 'number' ? toMicroDollars(result['cost']) : null,
    delayTime: numeric(result['delayTime']),
    executionTime: numeric(result['executionTime']),
  });
}

/** A line of failures.jsonl: the row's own columns stand at top level. */
export function rowOfFailure(failure: JsonObject): BareRow {
  const { error, millrace, ...cells } = failure;
  const facts = isObject(millrace) ? millrace : {};
  const said = isObject(error) ? error : {};
  return defined({
    ...commonFacts(failure, facts),
    status: codeOf(said['code']),
    cells: kept({ ...endpointCell(facts), ...cells }),
    error: pageError(said),
  });
}

/** The images that a row sends, as the manifest has them. */
export function imagesOf(cells: JsonObject | undefined): string[] {
  const images = cells?.['images'];
  if (Array.isArray(images)) return images.filter((image) => typeof image === 'string');
  if (typeof images !== 'string') return [];
  if (images.startsWith('[')) {
    try {
      return imagesOf({ images: JSON.parse(images) as unknown });
    } catch {
      return [];
    }
  }
  return images.split(/[\s|]+/).filter((image) => image !== '');
}

function commonFacts(line: JsonObject, facts: JsonObject) {
  return {
    id: text(line['id']) ?? '',
    row: numeric(facts['row']) ?? 0,
    kind: text(facts['kind']) ?? 'edit',
    endpoint: text(facts['endpoint']),
    jobId: text(facts['jobId']),
    attempts: numeric(facts['attempts']),
    submittedAt: text(facts['submittedAt']),
    settledAt: text(facts['settledAt']),
  };
}

/** Undoes what reading the manifest did: the request becomes columns again. */
function cellsOfResult(result: JsonObject, isLocal: boolean): JsonObject {
  const request = isObject(result['request']) ? result['request'] : {};
  const columns = isObject(result['columns']) ? result['columns'] : {};
  const input = isObject(request['input']) ? request['input'] : {};
  const head = { id: result['id'], kind: result['kind'], ...endpointCell(result) };
  if (result['kind'] === 'edit') return { ...columns, ...head, ...editCells(input, isLocal) };
  if (result['kind'] === 'job') return { ...columns, ...head, input };
  const { method, route, body } = request;
  return {
    ...columns,
    ...head,
    route,
    ...(method === undefined ? {} : { method }),
    ...(body === undefined ? {} : { body }),
  };
}

const editNames: ReadonlySet<string> = new Set(editFields);

/** What goes beyond the fields of an edit stays together in one JSON object: as columns, texts could become numbers. */
function editCells(input: JsonObject, isLocal: boolean): JsonObject {
  const isField = ([name]: [string, unknown]): boolean => editNames.has(name);
  const fields = Object.entries(input).filter(isField);
  const others = Object.entries(input).filter((entry) => !isField(entry));
  const images = imagesOf(input).map((image) => manifestImage(image, isLocal));
  return {
    ...Object.fromEntries(fields),
    ...(images.length === 0 ? {} : { images }),
    ...(others.length === 0 ? {} : { input: Object.fromEntries(others) }),
  };
}

function endpointCell(facts: JsonObject): JsonObject {
  return text(facts['endpoint']) === undefined || facts['endpoint'] === ''
    ? {}
    : { endpoint: facts['endpoint'] };
}

function kept(cells: JsonObject): JsonObject | undefined {
  return Object.values(cells).some(isLong) || JSON.stringify(cells).length > longestCells ? undefined : cells;
}

/** Spares writing out what is plainly too long. */
function isLong(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isLong) : typeof value === 'string' && value.length > longestCells;
}

function pageError(error: JsonObject): PageError {
  const paid: Paid = error['paid'] === 'yes' || error['paid'] === 'maybe' ? error['paid'] : 'no';
  return defined({
    message: (text(error['message']) ?? '').slice(0, 2000),
    detail: text(error['detail'])?.slice(0, 4000),
    httpStatus: numeric(error['httpStatus']),
    paid,
  });
}

function textOutput(output: unknown): string | undefined {
  if (output === undefined || output === null) return undefined;
  const written = typeof output === 'string' ? output : JSON.stringify(output, null, 1);
  return written.length > longestOutput ? `${written.slice(0, longestOutput)}…` : written;
}

function codeOf(code: unknown): FailureCode {
  return typeof code === 'string' && Object.hasOwn(failureCodes, code) ? (code as FailureCode) : 'unknown';
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numeric(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** JSON leaves out what is undefined. */
function defined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return value as { [K in keyof T]: Exclude<T[K], undefined> };
}
