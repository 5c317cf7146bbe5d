import { quoteValue } from '../quote-value.js';
import { hasHalfCharacter } from '../parse-json.js';
import type { RowKind } from '../manifest-row.js';
import type { RowCells, Problems } from './row-cells.js';
import { checkEndpointId } from '../../../../src/contract/request-parts.js';
import type { PriorFailure } from './prior-failure.js';

const longest = 1_000;

/** An id as text, `undefined` where the row has none, or a problem. Any text is allowed: files get safe names. */
export function rowId(value: unknown): { readonly id: string | undefined } | { readonly problem: string } {
  if (value === undefined) return { id: undefined };
  if (typeof value === 'number') return { id: String(value) };
  if (typeof value !== 'string') return { problem: `${quoteValue(value)} is neither text nor a number` };
  if (value.length > longest)
    return { problem: `has ${value.length} characters; at most ${longest} are taken` };
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return { problem: 'holds a control character' };
  if (hasHalfCharacter(value))
    return {
      problem: `${quoteValue(value)} holds half a character, which no file name can; write the whole one`,
    };
  return { id: value };
}

const kinds: readonly unknown[] = ['edit', 'job', 'route'] satisfies RowKind[];

/**
 * The kind of a row: its `kind` cell, else the kind given for all rows, else by its other cells: `route`, then `images` or
 * `prompt`, then `input`.
 */
export function rowKind(
  cells: RowCells,
  given: RowKind | undefined,
): { readonly kind: RowKind } | { readonly problem: string } {
  const own = cells.get('kind');
  if (own !== undefined) {
    if (kinds.includes(own)) return { kind: own as RowKind };
    return { problem: `${quoteValue(own)} is not one of ${kinds.join(', ')}` };
  }
  const kind = given ?? kindByColumns(cells);
  return kind === undefined ? { problem: nothingToSend } : { kind };
}

function kindByColumns(cells: RowCells): RowKind | undefined {
  if (cells.get('route') !== undefined) return 'route';
  if (cells.get('images') !== undefined || cells.get('prompt') !== undefined) return 'edit';
  return cells.get('input') !== undefined || cells.hasPaths('input') ? 'job' : undefined;
}

const nothingToSend =
  'has nothing to send: an edit has images and prompt, a job has input, a route call has route; a column of another name is read by --map, such as --map prompt=NAME';

/** The endpoint of rows that name none, and the ids that names stand for. */
export interface EndpointRules {
  readonly endpoint?: string | undefined;
  /** Of edits, where `endpoint` is not given. */
  readonly editEndpoint?: string | undefined;
  /** By name; any other name is an id. */
  readonly endpointIds: ReadonlyMap<string, string>;
}

/**
 * The endpoint of a row: its own cell first. A failure that may have been paid stays with the endpoint that accepted it; one
 * that was not paid goes to the endpoint of this start. A route has none: the empty string.
 */
export function rowEndpoint(
  kind: RowKind,
  cells: RowCells,
  problems: Problems,
  rules: EndpointRules,
  prior: PriorFailure | undefined,
): string {
  const own = cells.get('endpoint');
  if (own === undefined && kind === 'route') return '';
  const before = prior?.endpoint;
  const given = prior?.failure.paid === 'no' ? (rules.endpoint ?? before) : (before ?? rules.endpoint);
  const endpoint = own ?? given ?? (kind === 'edit' ? rules.editEndpoint : undefined);
  if (endpoint === undefined) {
    const message = `${cells.missing('endpoint')}: name it in this column, or for all rows with --endpoint`;
    problems.add(cells.label('endpoint'), message);
    return '';
  }
  const problem = typeof endpoint === 'string' ? checkEndpointId(endpoint) : 'is no text';
  const column = own === undefined ? 'endpoint' : cells.label('endpoint');
  if (problem !== undefined) problems.add(column, `${quoteValue(endpoint)} ${problem}`);
  if (kind === 'route' || typeof endpoint !== 'string') return '';
  return rules.endpointIds.get(endpoint) ?? endpoint;
}
