import { imageEditDefaults } from '../../../../src/contract/image-edit.js';
import type { ManifestSettings } from '../manifest-settings.js';
import type { RowKind, RowMode, RowRequest } from '../manifest-row.js';
import type { editInputCheck } from './check-edit-input.js';
import { readEdit } from './read-edit.js';
import { fieldsWith, type RowPurpose } from '../columns/manifest-fields.js';
import { jobInput } from './job-input.js';
import type { PriorFailure } from './prior-failure.js';
import type { Problems, RowCells } from './row-cells.js';
import { routeCall } from './route-call.js';
import { rowEndpoint, type EndpointRules, rowId, rowKind } from './row-head.js';

/** The request of a row, and its endpoint. */
export interface RowMeaning {
  readonly kind: RowKind;
  readonly endpoint: string;
  readonly request: RowRequest;
  /** The request as written, which is the same at every start; the row's hash is made of it. */
  readonly written: unknown;
  readonly resolution?: string | undefined;
  /** The job that the row collects, where it names one and sends nothing. */
  readonly collects?: string;
}

/** Rules for all rows of a manifest. */
export interface MeaningRules extends EndpointRules, Pick<ManifestSettings, 'kind' | 'resolveImage'> {
  readonly checkEdit: ReturnType<typeof editInputCheck>;
}

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
  const sent = sentBy(kind, cells, problems, rules);
  if (sent === undefined) return undefined;
  const { request, written, resolution } = sent;
  return { kind, endpoint, request, written, resolution };
}

function sentBy(
  kind: RowKind,
  cells: RowCells,
  problems: Problems,
  rules: MeaningRules,
): Pick<RowMeaning, 'request' | 'written' | 'resolution'> | undefined {
  if (kind === 'edit') {
    const edit = readEdit(cells, problems, {
      check: rules.checkEdit,
      resolveImage: rules.resolveImage,
    });
    if (edit === undefined) return undefined;
    const { request, written } = edit;
    return { request, written, resolution: request.input.resolution ?? imageEditDefaults.resolution };
  }
  if (kind === 'route') {
    const request = routeCall(cells, problems);
    return request && { request, written: request };
  }
  const input = jobInput(cells, problems);
  // These keys are in the order of canonical JSON, so that the hash sorts nothing.
  const request = input && ({ input, kind } as const);
  return request && { request, written: request };
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
  return { kind: 'job', endpoint, request, written: { jobId: job.id }, collects: job.id };
}

/** The purpose of the row, by which its columns are understood. */
export function purposeOf({ kind, collects }: RowMeaning): RowPurpose {
  return collects === undefined ? kind : 'collect';
}

/** The job that a row collects instead of buying one. */
export function jobOf({ collects }: RowMeaning, prior: PriorFailure | undefined): string | undefined {
  return collects ?? (prior?.failure.code === 'deadline' ? prior.failure.jobId : undefined);
}

/** The mode of a row: the given one, else that of its kind. A route is always sync, a row that collects a job async. */
export function modeOf({ kind, collects }: RowMeaning, given: RowMode | undefined): RowMode {
  if (kind === 'route') return 'sync';
  return collects === undefined ? (given ?? (kind === 'edit' ? 'sync' : 'async')) : 'async';
}
