import type { FailureLine } from './failure-line.js';
import type { SheetRow } from './spreadsheet.js';

const errorColumns = ['code', 'message', 'detail', 'httpStatus', 'retryable', 'paid'] as const;
const factColumns = [
  'row',
  'kind',
  'endpoint',
  'jobId',
  'imageUrl',
  'attempts',
  'submittedAt',
  'settledAt',
] as const;

/** The columns of failures.csv: the manifest's own, then what became of the row. */
export function failureColumns(own: readonly string[]): string[] {
  const told = [
    ...errorColumns.map((name) => `error.${name}`),
    ...factColumns.map((name) => `millrace.${name}`),
  ];
  return [...new Set(['id', ...own, ...told])];
}

/** A line of failures.jsonl as a spreadsheet has it. */
export function failureSheetRow({ error, millrace, ...cells }: FailureLine): SheetRow {
  const under = (prefix: string, facts: object): [string, unknown][] =>
    Object.entries(facts).map(([name, value]) => [`${prefix}.${name}`, value]);
  return { ...cells, ...Object.fromEntries([...under('error', error), ...under('millrace', millrace)]) };
}
