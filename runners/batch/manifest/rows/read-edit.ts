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
import { inputObject } from './job-input.js';
import type { Problems, RowCells } from './row-cells.js';

/** The request of an edit, and the request as written: with paths, which are the same at every start. */
export interface ReadEdit {
  readonly request: Extract<RowRequest, { kind: 'edit' }>;
  readonly written: unknown;
}

export interface EditRules {
  readonly checkEdit: ReturnType<typeof editInputCheck>;
  readonly resolveImage?: ResolveImage | undefined;
}

/** Builds an edit's input and checks it. `undefined`: a problem was reported. (spec 2.5) */
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

/** A problem with the images that was reported before is not reported again by their check. */
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
  problems.add(cells.label(field), value.message);
  return undefined;
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
