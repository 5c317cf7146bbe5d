import type { RowRequest } from '../manifest-row.js';
import { parseJson } from '../parse-json.js';
import type { Problems, RowCells } from './row-cells.js';

/** The request of a job: the object in the `input` cell, with the values of `input.…` columns. `undefined`: a problem was reported. */
export function jobCall(cells: RowCells, problems: Problems): RowRequest | undefined {
  if (cells.get('input') === undefined && !cells.hasPaths('input')) {
    const message = `${cells.missing('input')}: a job needs an input object, or columns input.<name>`;
    problems.add(cells.label('input'), message);
    return undefined;
  }
  const before = problems.found.length;
  const input = inputObject(cells, problems);
  if (input !== undefined) cells.putPaths('input', input, problems);
  // These keys are in the order of canonical JSON, so that the hash sorts nothing.
  return input === undefined || problems.found.length > before ? undefined : { input, kind: 'job' };
}

/** A copy of the object in the `input` cell; an empty one when the cell is absent. */
export function inputObject(cells: RowCells, problems: Problems): Record<string, unknown> | undefined {
  const given = cells.get('input');
  if (given === undefined) return {};
  const parsed = typeof given === 'string' ? parseJson(given) : { value: given };
  const value = 'value' in parsed ? parsed.value : undefined;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  problems.add(cells.label('input'), 'problem' in parsed ? parsed.problem : `is no JSON object, but ${is}`);
  return undefined;
}
