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

/** Then what was sent, by kind. */
export const requestColumns = {
  edit: ['images', 'prompt', 'resolution', 'aspect_ratio', 'output_format', 'enable_base64_output'],
  job: ['input'],
  route: ['route', 'method', 'body'],
} as const;

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
    ...requestCells(line.kind, request),
    ...Object.fromEntries(Object.entries(columns).map(([name, value]) => [ownColumn(name), value])),
  };
}

/** A user's column whose name is taken stands behind `columns.`. */
export function ownColumn(name: string): string {
  return reserved.has(name) ? `columns.${name}` : name;
}

function requestCells(kind: ResultLine['kind'], request: object): SheetRow {
  const input = 'input' in request ? (request.input as Readonly<Record<string, unknown>>) : {};
  if (kind === 'job') return { input };
  if (kind === 'route') return { ...request };
  const known: readonly string[] = requestColumns.edit;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      known.includes(name) ? name : `input.${name}`,
      name === 'images' && Array.isArray(value) ? value.join(' ') : value,
    ]),
  );
}
