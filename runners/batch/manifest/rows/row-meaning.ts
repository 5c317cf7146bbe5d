import { imageEditDefaults, resolutions } from '../../../../src/contract/image-edit.js';
import type { ManifestSettings } from '../manifest-settings.js';
import {
  otherResolution,
  type RowKind,
  type RowMode,
  type RowProblem,
  type RowProduct,
  type RowRequest,
} from '../manifest-row.js';
import { repeatColumn } from '../matrix/asked-axes.js';
import type { Product } from '../records/raw-record.js';
import { readEdit, type EditRules, jobCall, routeCall } from './row-requests.js';
import { CellProblem, fieldsWith, type RowPurpose } from '../columns/manifest-fields.js';
import { readPriority } from '../columns/row-priority.js';
import type { ColumnLayout, PurposeColumns } from '../columns/column-layout.js';
import type { PriorFailure } from './prior-failure.js';
import type { Problems, RowCells } from './row-cells.js';
import { checkEndpointId, isJobId } from '../../../../src/contract/request-parts.js';
import { hasHalfCharacter } from '../parse-json.js';
import { quoteValue } from '../quote-value.js';

export interface RowMeaning {
  readonly kind: RowKind;
  readonly endpoint: string;
  readonly request: RowRequest;
  /** The request as written, which is the same at every start; the row's hash is computed from it. */
  readonly written: unknown;
  readonly resolution?: string | undefined;
  /** Decides which columns apply to the row. */
  readonly purpose: RowPurpose;
  /** The job to collect instead of buying one. */
  readonly jobId?: string | undefined;
}

export interface MeaningRules extends EndpointRules, EditRules, Pick<ManifestSettings, 'kind' | 'pictures'> {}

/** Builds the request of a row. `undefined` if a problem was reported. */
export function rowMeaning(
  cells: RowCells,
  problems: Problems,
  prior: PriorFailure | undefined,
  rules: MeaningRules,
): RowMeaning | undefined {
  if (cells.get('jobId') !== undefined) return collected(cells, problems, prior, rules);
  const found = rowKind(cells, rules.kind ?? prior?.kind);
  if ('problem' in found)
    return problems.add(cells.get('kind') === undefined ? undefined : cells.label('kind'), found.problem);
  const { kind } = found;
  const endpoint = rowEndpoint(kind, cells, problems, rules, prior);
  const jobId = prior?.failure.code === 'deadline' ? prior.failure.jobId : undefined;
  // All fields are named, because a spread after other fields takes half as long as reading the row.
  if (kind === 'edit') {
    const edit = readEdit(cells, problems, rules);
    if (edit === undefined) return undefined;
    const { request, written } = edit;
    const resolution = request.input.resolution ?? imageEditDefaults.resolution;
    return { kind, purpose: kind, endpoint, jobId, request, written, resolution };
  }
  const request = kind === 'route' ? routeCall(cells, problems) : jobCall(cells, problems);
  if (request === undefined) return undefined;
  const resolution = request.kind === 'job' ? resolutionOfJob(endpoint, request.input, rules) : undefined;
  return { kind, purpose: kind, endpoint, jobId, request, written: request, resolution };
}

/** The input of a job is sent as it is, so `4K` is not `4k` in it: what the service makes of that is not known. (spec 2.5) */
function resolutionOfJob(
  endpoint: string,
  { resolution = imageEditDefaults.resolution }: Readonly<Record<string, unknown>>,
  { pictures = {} }: MeaningRules,
): string | undefined {
  if (!Object.hasOwn(pictures, endpoint)) return undefined;
  return [...(pictures[endpoint] ?? []), ...resolutions].find((one) => one === resolution) ?? otherResolution;
}

const content = fieldsWith('content');

/** A row that names a job collects it. It must not have content as well: the user may expect that this is sent. */
function collected(
  cells: RowCells,
  problems: Problems,
  prior: PriorFailure | undefined,
  rules: MeaningRules,
): RowMeaning | undefined {
  const { layout } = cells;
  const column = cells.label('jobId');
  const beside = [
    ...content.filter((field) => cells.isFilled(layout.at[field])),
    ...layout.paths.filter(({ at }) => cells.isFilled(at)).map(({ name }) => name),
  ];
  if (beside.length > 0)
    problems.add(
      column,
      `stands beside ${beside.join(', ')}: a row collects a job or sends something, not both`,
    );
  const job = rowId(cells.get('jobId'));
  if ('problem' in job) problems.add(column, job.problem);
  else if (!isJobId(job.id)) problems.add(column, 'is not an id of a job');
  const endpoint = rowEndpoint('job', cells, problems, rules, prior);
  if ('problem' in job || job.id === undefined) return undefined;
  const request = { kind: 'job', input: {} } as const;
  const written = { jobId: job.id };
  return { kind: 'job', purpose: 'collect', endpoint, request, written, jobId: job.id };
}

/** The mode of a row: the given one, or that of its kind. A route is always sync; a row that collects a job is always async. */
export function modeOf({ kind, purpose }: RowMeaning, given: RowMode | undefined): RowMode {
  if (kind === 'route') return 'sync';
  return purpose === 'collect' ? 'async' : (given ?? (kind === 'edit' ? 'sync' : 'async'));
}

const longest = 1_000;

/** An id as text, `undefined` if the row has none, or a problem. Any text is allowed, because file names are made safe. */
export function rowId(value: unknown): { readonly id: string | undefined } | { readonly problem: string } {
  if (value === undefined) return { id: undefined };
  if (typeof value === 'number') return { id: String(value) };
  if (typeof value !== 'string') return { problem: `${quoteValue(value)} is neither text nor a number` };
  if (value.length > longest)
    return { problem: `has ${value.length} characters; at most ${longest} are allowed` };
  if (/[\u0000-\u001f\u007f-\u009f]/.test(value)) return { problem: 'holds a control character' };
  if (hasHalfCharacter(value))
    return {
      problem: `${quoteValue(value)} holds half a character, which no file name can; write the whole one`,
    };
  return { id: value };
}

/** The priority of a row; `undefined` if it has none, or a problem was reported. */
export function rowPriority(cells: RowCells, problems: Problems): number | undefined {
  const given = cells.get('priority');
  if (given === undefined) return undefined;
  const column = cells.label('priority');
  const priority = readPriority(given, column);
  if (!(priority instanceof CellProblem)) return priority;
  return problems.add(column, priority.message);
}

const kinds: readonly unknown[] = ['edit', 'job', 'route'] satisfies RowKind[];

/**
 * The kind of a row: its `kind` cell, or the kind given for all rows, or else decided by its other cells: `route`, then
 * `images` or `prompt`, then `input`.
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
interface EndpointRules {
  readonly endpoint?: string | undefined;
  /** For edits, if `endpoint` is not given. */
  readonly editEndpoint?: string | undefined;
  /** By name; any other name is an id. */
  readonly endpointIds: ReadonlyMap<string, string>;
}

/**
 * The endpoint of a row: first its own cell. A failure that may have been paid for stays with the endpoint that accepted it;
 * one that was not goes to the endpoint of this start. A route has none, which is the empty string.
 */
function rowEndpoint(
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
  const problem = typeof endpoint === 'string' ? checkEndpointId(endpoint) : 'is not text';
  const column = own === undefined ? 'endpoint' : cells.label('endpoint');
  if (problem !== undefined) problems.add(column, `${quoteValue(endpoint)} ${problem}`);
  if (kind === 'route' || typeof endpoint !== 'string') return '';
  return rules.endpointIds.get(endpoint) ?? endpoint;
}

type FoundId = ReturnType<typeof rowId>;

/** The id of one of a line's rows: the line's own id with the suffix of the axes. */
export function productId(found: FoundId, product: Product): FoundId {
  if ('problem' in found || found.id === undefined) return found;
  const whole = rowId(found.id + product.suffix);
  return 'problem' in whole ? { problem: `${quoteValue(found.id)} with its axes ${whole.problem}` } : whole;
}

/** @param found the id of the line itself */
export function rowProduct({ index, axes, repeat }: Product, found: FoundId): RowProduct {
  return { ...('id' in found && found.id !== undefined && { source: found.id }), index, axes, repeat };
}

/**
 * The axes that do not change what a row sends: the same would be bought once for each of their values.
 *
 * @param columns `used`: those that filled texts of `--set`
 */
export function unusedAxes(
  { axes }: Product,
  columns: Pick<PurposeColumns, 'foreign'> & {
    readonly layout: ColumnLayout;
    readonly used: ReadonlySet<string>;
  },
): RowProblem[] {
  const { layout, foreign, used } = columns;
  return Object.keys(axes).flatMap((name) => {
    const at = layout.names.indexOf(name);
    const isSent = ![...layout.own, ...foreign].some((column) => column.at === at);
    if (isSent || used.has(name) || name === repeatColumn) return [];
    const message = `nothing that this row sends depends on it, so each of its values would buy the same: write {{${name}}} in a --set of a field that the row does not have, or use --repeat`;
    return [{ column: `--each ${name}`, message }];
  });
}
