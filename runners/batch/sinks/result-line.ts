import { imageUrlLifetimeMs } from '../../../src/contract/limits.js';
import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { OutputFile, ReplyRecord, SavedImage } from '../journal/record.js';
import { ownPrefix } from '../manifest/columns/failure-columns.js';
import type { RowKind, RowRequest } from '../manifest/manifest-row.js';
import {
  editFieldNames,
  editFields,
  requestCells,
  sentFields,
  type EditFieldName,
} from '../manifest/columns/manifest-fields.js';
import { isoTime, type EndedRow } from './line-text.js';
import type { SheetRow } from './spreadsheet.js';

/** A line of results.jsonl. Money in US dollars, times as ISO text, durations in ms. */
export interface ResultLine {
  readonly id: string;
  readonly row: number;
  readonly kind: RowKind;
  readonly endpoint: string;
  /** Absent on a route. */
  readonly jobId?: string;
  readonly status: 'completed';
  readonly output: unknown;
  /** Without a path if the picture was left at its URL. */
  readonly image?: Partial<SavedImage>;
  /** The files that were asked for (`saveOutput`). A file without a path is at its URL, or has a problem. */
  readonly files?: readonly OutputFile[];
  /** `null` if no cost was reported and no price is known. */
  readonly cost: number | null;
  readonly delayTime?: number;
  readonly executionTime?: number;
  /** Number of POSTs over all starts. */
  readonly attempts: number;
  readonly submittedAt: string;
  readonly settledAt: string;
  /** What was sent. */
  readonly request: SentRequest;
  /** The user's own columns. */
  readonly columns: Readonly<Record<string, unknown>>;
}

type SentRequest =
  | { readonly input: Readonly<Record<string, unknown>> }
  | { readonly method: string; readonly route: string; readonly body?: unknown };

/** The line of results.jsonl for a completed row. */
export function resultLine({ intent, reply, outcome }: EndedRow): ResultLine | undefined {
  if (intent === undefined || reply === undefined || outcome.status !== 'completed') return undefined;
  const image = outcome.image ?? unsavedImage(reply);
  return {
    id: outcome.id,
    row: intent.row,
    kind: intent.kind,
    endpoint: intent.endpoint,
    ...(reply.jobId && { jobId: reply.jobId }),
    status: 'completed',
    output: reply.output ?? null,
    ...(image && { image }),
    ...(outcome.files && { files: outcome.files }),
    cost: reply.cost === null ? null : toUsd(reply.cost),
    ...(reply.delayTime !== undefined && { delayTime: reply.delayTime }),
    ...(reply.executionTime !== undefined && { executionTime: reply.executionTime }),
    attempts: intent.attempt,
    submittedAt: isoTime(reply.submittedAt),
    settledAt: isoTime(reply.at),
    request: sent(intent.request),
    columns: intent.columns,
  };
}

function sent(request: RowRequest): SentRequest {
  if (request.kind !== 'route') return { input: request.input };
  const { method, route, body } = request;
  return { method, route, ...(body !== undefined && { body }) };
}

/** When a picture's URL expires. (spec 2.6) */
export function expiryOf(reply: Pick<ReplyRecord, 'at'>): string {
  return isoTime(reply.at + imageUrlLifetimeMs);
}

function unsavedImage(reply: ReplyRecord): Partial<SavedImage> | undefined {
  return reply.imageUrl === undefined ? undefined : { url: reply.imageUrl, expiresAt: expiryOf(reply) };
}

/** Columns of results.csv that every row has, in this order. */
export const resultColumns = [
  'id',
  'row',
  'kind',
  'endpoint',
  'jobId',
  'status',
  'image',
  'imageUrl',
  'imageExpiresAt',
  'cost',
  'delayTime',
  'executionTime',
  'attempts',
  'submittedAt',
  'settledAt',
  'output',
] as const;

/** Only if files were asked for: their paths, separated by ` | `. */
export const filesColumn = 'files.path';

/** Columns of the request that was sent, by kind of row. Further keys of an edit's input are in columns `input.<name>`. */
export const requestColumns = { ...sentFields, edit: editFieldNames } as const;

const reserved: ReadonlySet<string> = new Set<string>([
  ...resultColumns,
  filesColumn,
  ...Object.values(requestColumns).flat(),
]);

/** A line of results.jsonl as a row of the spreadsheet: one value per cell, the user's own columns last. */
export function resultSheetRow(line: ResultLine): SheetRow {
  const { image, files = [], request, columns, ...facts } = line;
  const paths = files.flatMap(({ path }) => path ?? []);
  return {
    ...facts,
    ...(paths.length > 0 && { [filesColumn]: paths.join(' | ') }),
    image: image?.path,
    imageUrl: image?.url,
    imageExpiresAt: image?.expiresAt,
    ...sentCells(line.kind, request),
    ...Object.fromEntries(Object.entries(columns).map(([name, value]) => [ownColumn(name), value])),
  };
}

/** A user's column whose name is taken is called `columns.<name>`. */
export function ownColumn(name: string): string {
  return reserved.has(name) ? ownPrefix + name : name;
}

function sentCells(kind: ResultLine['kind'], request: ResultLine['request']): SheetRow {
  const cells = requestCells(kind, request);
  if (kind !== 'edit') return cells;
  const { input, ...fields } = cells;
  const sheet: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields))
    sheet[name] = editFields[name as EditFieldName].toCell(value);
  for (const [name, value] of Object.entries(input ?? {})) sheet[`input.${name}`] = value;
  return sheet;
}
