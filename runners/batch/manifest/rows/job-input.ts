import { parseJson } from '../parse-json.js';
import type { Problems, RowCells } from './row-cells.js';

/** The input of a job: the object in the `input` cell, with the values of `input.…` columns. `undefined`: a problem was reported. */
export function jobInput(cells: RowCells, problems: Problems): Record<string, unknown> | undefined {
  const column = cells.label('input');
  const given = cells.get('input');
  if (given === undefined && !cells.hasPaths('input')) {
    problems.add(column, `${cells.missing('input')}: a job needs an input object, or columns input.<name>`);
    return undefined;
  }
  const base = inputObject(cells, problems);
  if (base === undefined) return undefined;
  const before = problems.found.length;
  cells.putPaths('input', base, (name, message) => problems.add(name, message));
  return problems.found.length === before ? base : undefined;
}

/** A copy of the object in the `input` cell; an empty one when the cell is absent. */
export function inputObject(cells: RowCells, problems: Problems): Record<string, unknown> | undefined {
  const given = cells.get('input');
  if (given === undefined) return {};
  const parsed = typeof given === 'string' ? parseJson(given) : { value: given };
  const problem = 'problem' in parsed ? parsed.problem : notAnObject(parsed.value);
  if (problem !== undefined) {
    problems.add(cells.label('input'), problem);
    return undefined;
  }
  return { ...('value' in parsed ? (parsed.value as object) : {}) };
}

function notAnObject(value: unknown): string | undefined {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  const is = value === null ? 'null' : Array.isArray(value) ? 'a list' : `a ${typeof value}`;
  return `is no JSON object, but ${is}`;
}
