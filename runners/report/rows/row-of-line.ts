import { isPlainObject } from '../../../src/contract/bounded-json.js';
import { type FailureCode, failureCodes, type Paid } from '../../../src/contract/failure-code.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { CellProblem, imageList, requestCells } from '../../batch/manifest/columns/manifest-fields.js';
import type { RowKind } from '../../batch/manifest/manifest-row.js';
import type { PageError, PageFile, PageRow } from '../page-data.js';
import { kindOfPath } from '../../batch/artifacts/artifact-format.js';
import { defined, pathAddress, savedPath, textOf } from './picture-facts.js';
import { numberOr, objectIn, textOr, type JsonObject } from '../read/json-object.js';

/** A row for the gallery without its pictures, which are added by code that knows where they are. */
type BareRow = Omit<PageRow, 'references' | 'picture' | 'earlier'>;

/** Longer rows (with base64 pictures in a manifest) are shown, but cannot be repeated from the report. */
const longestCells = 16_000;
const longestOutput = 1500;

/**
 * The row of a line in results.jsonl.
 *
 * @param isLocal Whether the run was a rehearsal with the embedded emulator.
 */
export function rowOfResult(result: JsonObject, isLocal: boolean): BareRow {
  const output = result['image'] === undefined ? textOutput(result['output']) : undefined;
  return defined({
    ...commonFacts(result, result),
    status: 'completed' as const,
    cells: kept(cellsOfResult(result, isLocal)),
    files: savedFilesOf(result['files']),
    output,
    cost: typeof result['cost'] === 'number' ? toMicroDollars(result['cost']) : null,
    delayTime: numberOr(result['delayTime'], undefined),
    executionTime: numberOr(result['executionTime'], undefined),
  });
}

/** Only files in the folder, as for pictures. */
function savedFilesOf(files: unknown): PageFile[] | undefined {
  const found = (Array.isArray(files) ? files : []).filter(isPlainObject).map((file): PageFile => {
    const path = savedPath(file);
    return defined({
      field: textOr(file['field']),
      path: path === undefined ? undefined : pathAddress(path),
      kind: path === undefined ? undefined : kindOfPath(path),
      bytes: numberOr(file['bytes'], undefined),
    });
  });
  return found.length === 0 ? undefined : found;
}

/** The row of a line in failures.jsonl, which has the row's own columns at top level. */
export function rowOfFailure(failure: JsonObject): BareRow {
  const { error, millrace, ...cells } = failure;
  const facts = isPlainObject(millrace) ? millrace : {};
  const fields = isPlainObject(error) ? error : {};
  return defined({
    ...commonFacts(failure, facts),
    status: codeOf(fields['code']),
    cells: kept({ ...endpointCell(facts), ...cells }),
    error: pageError(fields),
  });
}

export interface RowAndPictures {
  readonly row: BareRow;
  readonly images: readonly string[];
  /** The picture of its result: the `image` of a line. */
  readonly image: unknown;
}

/** The row of a line in either file. */
export function rowOfLine(line: JsonObject, isResult: boolean, isLocal: boolean): RowAndPictures {
  return {
    row: isResult ? rowOfResult(line, isLocal) : rowOfFailure(line),
    images: imagesOfLine(line, isResult, isLocal),
    image: isResult ? line['image'] : { url: objectIn(line, 'millrace')['imageUrl'] },
  };
}

/** The references of a line, as the manifest names them. */
export function imagesOfLine(line: JsonObject, isResult: boolean, isLocal: boolean): string[] {
  const sent = isResult ? objectIn(objectIn(line, 'request'), 'input') : line;
  return imagesOf(sent).map((image) => manifestImage(image, isLocal));
}

export function imagesOf(cells: JsonObject | undefined): string[] {
  const images = cells?.['images'] === undefined ? [] : imageList(cells['images']);
  return images instanceof CellProblem ? [] : images.filter((image) => typeof image === 'string');
}

function commonFacts(line: JsonObject, facts: JsonObject) {
  return {
    id: textOr(line['id']),
    row: numberOr(facts['row'], undefined) ?? 0,
    kind: textOf(facts['kind']) ?? 'edit',
    endpoint: textOf(facts['endpoint']),
    jobId: textOf(facts['jobId']),
    attempts: numberOr(facts['attempts'], undefined),
    settledAt: textOf(facts['settledAt']),
  };
}

/** Turns the request of a result back into columns of a manifest. */
function cellsOfResult(result: JsonObject, isLocal: boolean): JsonObject {
  const kind = kindOf(result['kind']);
  const cells = requestCells(kind, objectIn(result, 'request'));
  const images = imagesOf(cells).map((image) => manifestImage(image, isLocal));
  return {
    ...objectIn(result, 'columns'),
    id: result['id'],
    kind: result['kind'],
    ...endpointCell(result),
    ...cells,
    ...(images.length > 0 && { images }),
  };
}

function kindOf(kind: unknown): RowKind {
  return kind === 'edit' || kind === 'job' ? kind : 'route';
}

function endpointCell(facts: JsonObject): JsonObject {
  return textOf(facts['endpoint']) === undefined || facts['endpoint'] === ''
    ? {}
    : { endpoint: facts['endpoint'] };
}

function kept(cells: JsonObject): JsonObject | undefined {
  if (lettersIn(cells) * mostPerLetter <= longestCells) return cells;
  return Object.values(cells).some(isLong) || JSON.stringify(cells).length > longestCells ? undefined : cells;
}

/** JSON writes a character as at most `\\u0000`. */
const mostPerLetter = 6;

/** An estimate of a value's length in JSON, at least a sixth of it: a value that is clearly short need not be written out. */
function lettersIn(value: unknown): number {
  if (typeof value === 'string') return value.length + 1;
  if (typeof value !== 'object' || value === null) return 8;
  if (Array.isArray(value)) return value.reduce<number>((sum, part) => sum + lettersIn(part), 2);
  let sum = 2;
  for (const [name, part] of Object.entries(value)) sum += name.length + 1 + lettersIn(part);
  return sum;
}

/** Whether a value is too long, without writing out one that clearly is. */
function isLong(value: unknown): boolean {
  return Array.isArray(value) ? value.some(isLong) : typeof value === 'string' && value.length > longestCells;
}

function pageError(error: JsonObject): PageError {
  const paid: Paid = error['paid'] === 'yes' || error['paid'] === 'maybe' ? error['paid'] : 'no';
  return defined({
    message: textOr(error['message']).slice(0, 2000),
    detail: textOf(error['detail'])?.slice(0, 4000),
    httpStatus: numberOr(error['httpStatus'], undefined),
    paid,
  });
}

function textOutput(output: unknown): string | undefined {
  if (output === undefined || output === null) return undefined;
  const written = typeof output === 'string' ? output : JSON.stringify(output, null, 2);
  if (written.length <= longestOutput) return written;
  // A copy: a part of a text keeps all of it in memory.
  return JSON.parse(JSON.stringify(`${written.slice(0, longestOutput)}…`)) as string;
}

/** The code of a failure; `unknown` if it is none of this version. */
export function codeOf(code: unknown): FailureCode {
  return typeof code === 'string' && Object.hasOwn(failureCodes, code) ? (code as FailureCode) : 'unknown';
}

/** Addresses at which the embedded emulator serves the pictures beside the manifest. */
const served = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\]):\d+\/files\/(.+)$/;

/** An uploaded picture, with its path in the manifest. */
const uploaded = /^s3:\/\/[^#]+#(.+)$/;

/** An image as the manifest had it. A rehearsal sends paths as addresses of its emulator, which is gone afterwards. */
export function manifestImage(image: string, isLocal: boolean): string {
  const path = (isLocal ? served : uploaded).exec(image)?.[1];
  if (path === undefined) return image;
  try {
    return path.split('/').map(decodeURIComponent).join('/');
  } catch {
    return image;
  }
}
