import { isPlainObject } from '../../../../src/contract/bounded-json.js';
import type { ResolveImage } from '../manifest-settings.js';
import type { RowRequest } from '../manifest-row.js';
import type { EditInput, InputProblem, editInputCheck } from './check-edit-input.js';
import {
  CellProblem,
  editFieldNames,
  editFields,
  isEditField,
  type EditFieldName,
} from '../columns/manifest-fields.js';
import { resolveImages } from './row-images.js';
import type { Problems, RowCells } from './row-cells.js';
import { parseJson } from '../parse-json.js';
import { checkRoutePath } from '../../../../src/contract/request-parts.js';
import { quoteValue } from '../quote-value.js';

/** The request of an edit, and the request as written: with paths, which are the same at every start. */
export interface ReadEdit {
  readonly request: Extract<RowRequest, { kind: 'edit' }>;
  readonly written: unknown;
}

export interface EditRules {
  readonly checkEdit: ReturnType<typeof editInputCheck>;
  readonly resolveImage?: ResolveImage | undefined;
}

/** Builds an edit's input and checks it. `undefined` if a problem was reported. (spec 2.5) */
export function readEdit(cells: RowCells, problems: Problems, rules: EditRules): ReadEdit | undefined {
  const before = problems.found.length;
  const input = editInput(cells, problems);
  if (input === undefined) return undefined;
  const written = input['images'];
  const resolved = Array.isArray(written) ? resolveImages(written, rules.resolveImage) : undefined;
  if (resolved !== undefined) input['images'] = resolved.images;
  for (const problem of resolved?.problems ?? []) problems.add(columnOf('images', cells), problem);

  const checked = rules.checkEdit(input);
  if ('problems' in checked) {
    report(checked.problems, cells, problems);
    return undefined;
  }
  if (problems.found.length > before) return undefined;
  return finish(checked.input, written, resolved?.images);
}

/** Does not report the images again if they have a problem already. */
function report(found: readonly InputProblem[], cells: RowCells, problems: Problems): void {
  const images = columnOf('images', cells);
  const isReported = problems.found.some(({ column }) => column === images);
  for (const { field, message } of found)
    if (field !== 'images' || !isReported)
      problems.add(columnOf(field, cells), message ?? absent(field, cells));
}

function finish(input: EditInput, written: unknown, images: unknown): ReadEdit {
  // These keys are in the order of canonical JSON, so that the hash sorts nothing.
  const request = { input, kind: 'edit' } as const;
  return {
    request,
    written: written === images ? request : { input: { ...input, images: written }, kind: 'edit' },
  };
}

function editInput(cells: RowCells, problems: Problems): Record<string, unknown> | undefined {
  const input = inputObject(cells, problems);
  if (input === undefined) return undefined;
  for (const field of editFieldNames) {
    const value = cells.get(field);
    if (value === undefined) continue;
    if (Object.hasOwn(input, field)) problems.add(cells.label(field), 'stands in the input object too');
    input[field] = fieldValue(field, value, cells, problems);
  }
  if (cells.hasPaths('input')) cells.putPaths('input', input, problems);
  return input;
}

function fieldValue(field: EditFieldName, cell: unknown, cells: RowCells, problems: Problems): unknown {
  const value = editFields[field].toWire(cell);
  if (!(value instanceof CellProblem)) return value;
  return problems.add(cells.label(field), value.message);
}

function columnOf(field: string, cells: RowCells): string {
  const path = cells.layout.paths.find(({ name }) => name === `input.${field}`);
  if (path !== undefined && (!isEditField(field) || cells.get(field) === undefined))
    return cells.layout.names[path.at] ?? path.name;
  return isEditField(field) ? cells.label(field) : cells.label('input');
}

function absent(field: string, cells: RowCells): string {
  return isEditField(field) ? cells.missing(field) : 'is missing';
}

/**
 * The request of a job: the object in the `input` cell, with the values of `input.…` columns. `undefined` if a problem was
 * reported.
 */
export function jobCall(cells: RowCells, problems: Problems): RowRequest | undefined {
  if (cells.get('input') === undefined && !cells.hasPaths('input')) {
    const message = `${cells.missing('input')}: a job needs an input object, or columns input.<name>`;
    return problems.add(cells.label('input'), message);
  }
  const before = problems.found.length;
  const input = inputObject(cells, problems);
  if (input !== undefined) cells.putPaths('input', input, problems);
  // These keys are in the order of canonical JSON, so that the hash sorts nothing.
  return input === undefined || problems.found.length > before ? undefined : { input, kind: 'job' };
}

/** A copy of the object in the `input` cell; an empty object if the cell is absent. */
function inputObject(cells: RowCells, problems: Problems): Record<string, unknown> | undefined {
  const given = cells.get('input');
  return given === undefined ? {} : objectIn('input', given, cells, problems);
}

/** A copy of the object in a cell. Anything else is reported. (spec 2.2, 2.3) */
function objectIn(
  field: 'input' | 'body',
  given: unknown,
  cells: RowCells,
  problems: Problems,
): Record<string, unknown> | undefined {
  const parsed = typeof given === 'string' ? parseJson(given) : { value: given };
  const value = 'value' in parsed ? parsed.value : undefined;
  if (isPlainObject(value)) return { ...value };
  const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return problems.add(
    cells.label(field),
    'problem' in parsed ? parsed.problem : `is not a JSON object, but ${is}`,
  );
}

/** The call of a route. `undefined` if a problem was reported. (spec 2.3, 4.2) */
export function routeCall(cells: RowCells, problems: Problems): RowRequest | undefined {
  const before = problems.found.length;
  const route = routePath(cells, problems);
  const method = routeMethod(cells, problems);
  const body = routeBody(cells, problems);
  if (method === 'GET' && body !== undefined)
    problems.add(bodyColumn(cells), 'a GET row has no body; leave the cell empty, or use method POST');
  if (problems.found.length > before || route === undefined || method === undefined) return undefined;
  return { kind: 'route', method, route, ...(body !== undefined && { body: body.value }) };
}

function routePath(cells: RowCells, problems: Problems): string | undefined {
  const route = cells.get('route');
  const problem =
    route === undefined
      ? `${cells.missing('route')}: a route call needs the path of its route`
      : typeof route !== 'string'
        ? `is not text, but ${quoteValue(route)}`
        : withValue(route, checkRoutePath(route));
  if (problem === undefined) return route as string;
  return problems.add(cells.label('route'), problem);
}

function withValue(route: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${quoteValue(route)} ${problem}`;
}

function routeMethod(cells: RowCells, problems: Problems): 'GET' | 'POST' | undefined {
  const given = cells.get('method') ?? 'POST';
  const method = typeof given === 'string' ? given.toUpperCase() : given;
  if (method === 'GET' || method === 'POST') return method;
  return problems.add(cells.label('method'), `${quoteValue(given)} is not one of GET, POST`);
}

/** Returns `undefined` if there is no body. An invalid body is reported and counts as a body. */
function routeBody(cells: RowCells, problems: Problems): { readonly value: unknown } | undefined {
  const given = cells.get('body');
  const hasPaths = cells.hasPaths('body');
  if (given === undefined && !hasPaths) return undefined;
  const value = given === undefined ? {} : objectIn('body', given, cells, problems);
  if (value !== undefined && hasPaths) cells.putPaths('body', value, problems);
  return { value };
}

function bodyColumn(cells: RowCells): string {
  const first = cells.layout.paths.find(({ root, at }) => root === 'body' && cells.isFilled(at));
  return cells.get('body') !== undefined || first === undefined ? cells.label('body') : first.name;
}
