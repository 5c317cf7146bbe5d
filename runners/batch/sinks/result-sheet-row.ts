import {
  editFieldNames,
  editFields,
  sentFields,
  type EditFieldName,
} from '../manifest/columns/manifest-fields.js';
import { requestCells } from '../manifest/rows/request-cells.js';
import type { ResultLine } from './result-line.js';
import type { SheetRow } from './spreadsheet.js';

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

/** Then what was sent, by kind. What an edit's input has beside its own fields stands in columns `input.<name>`. */
export const requestColumns = { ...sentFields, edit: editFieldNames } as const;

const reserved: ReadonlySet<string> = new Set<string>([
  ...resultColumns,
  ...Object.values(requestColumns).flat(),
]);

/** A line of results.jsonl as a spreadsheet has it: one value a cell, the user's own columns last. */
export function resultSheetRow(line: ResultLine): SheetRow {
  const { image, request, columns, ...facts } = line;
  return {
    ...facts,
    image: image?.path,
    imageUrl: image?.url,
    imageExpiresAt: image?.expiresAt,
    ...sentCells(line.kind, request),
    ...Object.fromEntries(Object.entries(columns).map(([name, value]) => [ownColumn(name), value])),
  };
}

/** A user's column whose name is taken stands behind `columns.`. */
export function ownColumn(name: string): string {
  return reserved.has(name) ? `columns.${name}` : name;
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
