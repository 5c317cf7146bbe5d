import { imageEditDefaults } from '../../../../src/contract/image-edit.js';
import type { ManifestSettings } from '../manifest-settings.js';
import type { RowKind, RowMode, RowRequest } from '../manifest-row.js';
import { readEdit, type EditRules, jobCall, routeCall } from './row-requests.js';
import { fieldsWith, type RowPurpose } from '../columns/manifest-fields.js';
import type { PriorFailure } from './prior-failure.js';
import type { Problems, RowCells } from './row-cells.js';
import { rowEndpoint, type EndpointRules, rowId, rowKind } from './row-head.js';

/** The request of a row, and its endpoint. */
export interface RowMeaning {
  readonly kind: RowKind;
  readonly endpoint: string;
  readonly request: RowRequest;
  /** The request as written, which is the same at every start; the row's hash is made of it. */
  readonly written: unknown;
  readonly resolution?: string | undefined;
  /** By which its columns are understood. */
  readonly purpose: RowPurpose;
  /** The job that the row collects instead of buying one. */
  readonly jobId?: string | undefined;
}

/** Rules for all rows of a manifest. */
export interface MeaningRules extends EndpointRules, EditRules, Pick<ManifestSettings, 'kind'> {}

/** Works out the request of a row. `undefined`: a problem was reported. */
export function rowMeaning(
  cells: RowCells,
  problems: Problems,
  prior: PriorFailure | undefined,
  rules: MeaningRules,
): RowMeaning | undefined {
  if (cells.get('jobId') !== undefined) return collected(cells, problems, prior, rules);
  const found = rowKind(cells, rules.kind ?? prior?.kind);
  if ('problem' in found) {
    problems.add(cells.get('kind') === undefined ? undefined : cells.label('kind'), found.problem);
    return undefined;
  }
  const { kind } = found;
  const endpoint = rowEndpoint(kind, cells, problems, rules, prior);
  const jobId = prior?.failure.code === 'deadline' ? prior.failure.jobId : undefined;
  // All fields are named: a spread behind others takes as long as half of a row.
  if (kind === 'edit') {
    const edit = readEdit(cells, problems, rules);
    if (edit === undefined) return undefined;
    const { request, written } = edit;
    const resolution = request.input.resolution ?? imageEditDefaults.resolution;
    return { kind, purpose: kind, endpoint, jobId, request, written, resolution };
  }
  const request = kind === 'route' ? routeCall(cells, problems) : jobCall(cells, problems);
  if (request === undefined) return undefined;
  return { kind, purpose: kind, endpoint, jobId, request, written: request, resolution: undefined };
}

const content = fieldsWith('content');

/** A row that names a job collects it and must not hold content as well, which would be bought silently. */
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
  const endpoint = rowEndpoint('job', cells, problems, rules, prior);
  if ('problem' in job || job.id === undefined) return undefined;
  const request = { kind: 'job', input: {} } as const;
  const written = { jobId: job.id };
  return { kind: 'job', purpose: 'collect', endpoint, request, written, jobId: job.id };
}

/** The mode of a row: the given one, else that of its kind. A route is always sync, a row that collects a job async. */
export function modeOf({ kind, purpose }: RowMeaning, given: RowMode | undefined): RowMode {
  if (kind === 'route') return 'sync';
  return purpose === 'collect' ? 'async' : (given ?? (kind === 'edit' ? 'sync' : 'async'));
}
