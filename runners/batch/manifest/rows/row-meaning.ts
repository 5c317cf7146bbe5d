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

/** What a row asks for, and of whom. */
export interface RowMeaning {
  readonly kind: RowKind;
  readonly endpoint: string;
  readonly request: RowRequest;
  /** The request as it was written, which is the same at every start: its hash is the row's. */
  readonly written: unknown;
  readonly resolution?: string | undefined;
  /** Set on a row that holds only a job's id. */
  readonly collects?: string;
}

/** What holds for all rows of a manifest. */
export interface MeaningRules extends EndpointRules, Pick<ManifestSettings, 'kind' | 'resolveImage'> {
  readonly checkEdit: ReturnType<typeof editInputCheck>;
}

/** Works out what a row asks for. `undefined`: it cannot be done, and `problems` says why. */
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
  // In the order of its canonical JSON: nothing has to be sorted.
  const request = input && ({ input, kind } as const);
  return request && { request, written: request };
}

const content = fieldsWith('content');

/** A row that names a job collects it and sends nothing: one that does both would be paid for without a word. */
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

/** What the row's columns are for. */
export function purposeOf({ kind, collects }: RowMeaning): RowPurpose {
  return collects === undefined ? kind : 'collect';
}

/** The job that a row collects instead of buying one. */
export function jobOf({ collects }: RowMeaning, prior: PriorFailure | undefined): string | undefined {
  return collects ?? (prior?.failure.code === 'deadline' ? prior.failure.jobId : undefined);
}

/** How a row is sent, unless all of its kind are sent alike. */
export function modeOf({ kind, collects }: RowMeaning, told: RowMode | undefined): RowMode {
  if (kind === 'route') return 'sync';
  return collects === undefined ? (told ?? (kind === 'edit' ? 'sync' : 'async')) : 'async';
}
