import { checkEndpointId } from '../../../../src/contract/request-parts.js';
import { quoteValue } from '../quote-value.js';
import type { RowKind } from '../row.js';
import type { PriorFailure } from './prior-failure.js';
import type { Problems } from './problems.js';
import type { RowCells } from './row-cells.js';

/** Where rows go that say nothing themselves, and what names stand for. */
export interface EndpointRules {
  readonly endpoint?: string | undefined;
  /** By name; any other name is an id. */
  readonly endpointIds: ReadonlyMap<string, string>;
}

/**
 * Where a row goes: its own cell first. A failure that may have been paid stays with the endpoint that took it, one that
 * was not goes where this start sends everything. A route has no endpoint: the empty string.
 */
export function rowEndpoint(
  kind: RowKind,
  cells: RowCells,
  problems: Problems,
  told: EndpointRules,
  prior: PriorFailure | undefined,
): string {
  const given = cells.get('endpoint');
  const idOf = (name: string): string => told.endpointIds.get(name) ?? name;
  if (given !== undefined) return idOf(checked(given, kind, cells.label('endpoint'), problems));
  if (kind === 'route') return '';
  const before = prior?.endpoint;
  const endpoint = prior?.failure.paid === 'no' ? (told.endpoint ?? before) : (before ?? told.endpoint);
  if (endpoint !== undefined) return idOf(checked(endpoint, kind, 'endpoint', problems));
  problems.add(
    cells.label('endpoint'),
    `${cells.missing('endpoint')}: name it in this column, or for all rows with --endpoint`,
  );
  return '';
}

function checked(endpoint: unknown, kind: RowKind, column: string, problems: Problems): string {
  const problem = typeof endpoint === 'string' ? checkEndpointId(endpoint) : 'is no text';
  if (problem !== undefined) problems.add(column, `${quoteValue(endpoint)} ${problem}`);
  return kind === 'route' || typeof endpoint !== 'string' ? '' : endpoint;
}
