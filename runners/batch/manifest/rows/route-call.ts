import { checkRoutePath } from '../../../../src/contract/request-parts.js';
import { quoteValue } from '../quote-value.js';
import type { RowRequest } from '../manifest-row.js';
import { parseJson } from '../parse-json.js';
import type { Problems, RowCells } from './row-cells.js';

/** The call of a route. `undefined`: a problem was reported. (spec 2.3, 4.2) */
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
        ? `is no text, but ${quoteValue(route)}`
        : withValue(route, checkRoutePath(route));
  if (problem === undefined) return route as string;
  problems.add(cells.label('route'), problem);
  return undefined;
}

function withValue(route: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${quoteValue(route)} ${problem}`;
}

function routeMethod(cells: RowCells, problems: Problems): 'GET' | 'POST' | undefined {
  const given = cells.get('method') ?? 'POST';
  const method = typeof given === 'string' ? given.toUpperCase() : given;
  if (method === 'GET' || method === 'POST') return method;
  problems.add(cells.label('method'), `${quoteValue(given)} is not one of GET, POST`);
  return undefined;
}

/** `undefined`: no body. A wrong body is reported, and counts as one. */
function routeBody(cells: RowCells, problems: Problems): { readonly value: unknown } | undefined {
  const given = cells.get('body');
  const hasPaths = cells.hasPaths('body');
  if (given === undefined && !hasPaths) return undefined;
  const parsed = typeof given === 'string' ? parseJson(given) : { value: given ?? {} };
  if ('problem' in parsed) {
    problems.add(cells.label('body'), parsed.problem);
    return { value: undefined };
  }
  return hasPaths ? withPaths(parsed.value, cells, problems) : parsed;
}

function withPaths(base: unknown, cells: RowCells, problems: Problems): { readonly value: unknown } {
  if (typeof base !== 'object' || base === null || Array.isArray(base)) {
    problems.add(cells.label('body'), 'is no JSON object, so that body.<name> columns cannot be put into it');
    return { value: undefined };
  }
  const value: Record<string, unknown> = { ...base };
  cells.putPaths('body', value, problems);
  return { value };
}

function bodyColumn(cells: RowCells): string {
  const first = cells.layout.paths.find(({ root, at }) => root === 'body' && cells.isFilled(at));
  return cells.get('body') !== undefined || first === undefined ? cells.label('body') : first.name;
}
