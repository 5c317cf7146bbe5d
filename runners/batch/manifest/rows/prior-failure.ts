import * as z from 'zod';
import { factParents, isBelow, isFactName, ownColumnOf } from '../columns/failure-columns.js';
import { unescapeFormula } from '../columns/formula-text.js';
import { failureCodes, type FailureCode, type Paid } from '../../../../src/contract/failure-code.js';
import { checkHttpUrl, isJobId } from '../../../../src/contract/request-parts.js';
import type { Row, RowKind } from '../manifest-row.js';
import { parseJson } from '../parse-json.js';
import type { Problems, RowCells } from './row-cells.js';
import type { RawRecord } from '../records/raw-record.js';

/** The failure that a line of failures.jsonl reports. */
export interface PriorFailure {
  readonly failure: NonNullable<Row['prior']>;
  readonly kind?: RowKind;
  readonly endpoint?: string;
}

const paidOrder = ['no', 'maybe', 'yes'] as const satisfies readonly Paid[];

/** The cells `error` and `millrace`: anything else is no line of failures.jsonl. */
const cellsSchema = z.tuple([
  z.object({ code: z.enum(Object.keys(failureCodes) as FailureCode[]), paid: z.enum(paidOrder) }),
  z.object({
    kind: z.enum(['edit', 'job', 'route']).nullish(),
    endpoint: z.string().nullish(),
    jobId: z.string().nullish(),
    imageUrl: z.string().nullish(),
  }),
]);

/** The earlier failure in the cells `error` and `millrace` of a row. `undefined` if there is none, or a problem was reported. */
export function readPrior(cells: RowCells, problems: Problems): PriorFailure | undefined {
  const [error, millrace] = [cells.get('error'), cells.get('millrace')];
  if (error === undefined && millrace === undefined) return undefined;
  const prior = priorFailure(error, millrace);
  if ('failure' in prior) return prior;
  return problems.add(cells.label(error === undefined ? 'millrace' : 'error'), prior.problem);
}

/**
 * Reads the cells `error` and `millrace` of failures.jsonl: objects, or their JSON text. Anything else is a problem: if only
 * half of the cells were understood, paid rows would be bought again.
 */
function priorFailure(error: unknown, millrace: unknown): PriorFailure | { readonly problem: string } {
  const { data } = cellsSchema.safeParse([valueIn(error), valueIn(millrace)]);
  if (data === undefined) return { problem: wrongShape };
  const [{ code, paid }, { kind, endpoint, jobId, imageUrl }] = data;
  if (imageUrl && checkHttpUrl(imageUrl) !== undefined)
    return { problem: 'names an imageUrl that is not an http or https URL' };
  if (jobId && !isJobId(jobId)) return { problem: 'names a jobId that is not an id of a job' };
  return {
    failure: {
      code,
      paid: theMoreCareful(paid, failureCodes[code].paid),
      ...(jobId && { jobId }),
      ...(imageUrl && { imageUrl }),
    },
    ...(kind && { kind }),
    ...(endpoint && { endpoint }),
  };
}

const wrongShape =
  'is a name that only lines of failures.jsonl have, where error {code, paid, …} and millrace {kind, endpoint, …} stand together; rename the column';

/** The value of a cell of JSON text; `undefined` if the text is not JSON. */
function valueIn(cell: unknown): unknown {
  const parsed = typeof cell === 'string' ? parseJson(cell) : { value: cell };
  return 'value' in parsed ? parsed.value : undefined;
}

function theMoreCareful(a: Paid, b: Paid): Paid {
  return paidOrder.indexOf(a) > paidOrder.indexOf(b) ? a : b;
}

/** The places of the columns of failures.csv that are combined into `error` and `millrace`. */
interface Folding {
  readonly names: readonly string[];
  /** Places of the other columns. */
  readonly kept: readonly number[];
  readonly parts: readonly (readonly { readonly at: number; readonly name: string }[])[];
}

/**
 * Combines the columns `error.code`, `millrace.jobId` and so on of failures.csv into `error` and `millrace`, as in
 * failures.jsonl. If they counted as the user's own columns, paid rows would be bought again.
 */
export class FailureColumns {
  #lastNames: readonly string[] | undefined;
  #folding: Folding | undefined;

  fold(record: RawRecord): RawRecord {
    if (record.names !== this.#lastNames) {
      this.#lastNames = record.names;
      this.#folding = isOfFailures(record.names) ? foldingOf(record.names) : undefined;
    }
    const folding = this.#folding;
    if (folding === undefined || record.problem !== undefined) return record;
    const { names, kept, parts } = folding;
    const values = kept.map((at) => record.values[at]);
    return { ...record, names, values: [...values, ...parts.map((part) => together(part, record.values))] };
  }
}

/** `error.code` alone may be the user's own column; `millrace.…` is not. */
function isOfFailures(names: readonly string[]): boolean {
  if (factParents.some((parent) => names.includes(parent))) return false;
  const lower = names.map((name) => name.toLowerCase());
  const hasError = lower.includes('error.code') && lower.includes('error.paid');
  return hasError || lower.some((name) => isBelow('millrace', name));
}

function foldingOf(names: readonly string[]): Folding {
  const places = names.map((name, at) => ({ name, at }));
  const kept = places.filter(({ name }) => !isFactName(name));
  const parts = factParents.map((parent) =>
    places
      .filter(({ name }) => isBelow(parent, name))
      .map(({ name, at }) => ({ name: name.slice(parent.length + 1), at })),
  );
  return {
    names: [...kept.map(({ name }) => ownColumnOf(name)), ...factParents],
    kept: kept.map(({ at }) => at),
    parts,
  };
}

/** The cells as JSON text; empty if all of them are, as in an ordinary row that a person added to failures.csv. */
function together(part: Folding['parts'][number], values: readonly unknown[]): string {
  const cells = unescapeFormulas(part.map(({ at }) => values[at]));
  const filled = part.flatMap(({ name }, at) =>
    cells[at] === '' || cells[at] === undefined ? [] : [[name, cells[at]] as const],
  );
  return filled.length === 0 ? '' : JSON.stringify(Object.fromEntries(filled));
}

/**
 * Removes the apostrophe that failures.csv puts before texts that look like formulas to a spreadsheet, so that its rows are
 * sent unchanged.
 */
export function unescapeFormulas(values: readonly unknown[]): unknown[] {
  return values.map((value) => (typeof value === 'string' ? unescapeFormula(value) : value));
}
