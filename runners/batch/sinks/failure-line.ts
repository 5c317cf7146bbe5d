import type { RowError } from '../journal/record.js';
import type { RowKind } from '../manifest/manifest-row.js';
import { nameInFailures } from '../manifest/columns/failure-columns.js';
import { isoTime, type EndedRow } from './line-text.js';
import type { SheetRow } from './spreadsheet.js';

/** A line of failures.jsonl: the row's own columns, so that the file can be read as a manifest, and how the row failed. */
export interface FailureLine {
  readonly id: string;
  readonly [column: string]: unknown;
  readonly error: RowError;
  readonly millrace: FailureFacts;
}

interface FailureFacts {
  readonly row: number;
  /** `null` if the row does not name one. */
  readonly kind: RowKind | null;
  readonly endpoint: string;
  readonly jobId?: string;
  /** The URL of a picture that is paid for and not saved. */
  readonly imageUrl?: string;
  readonly attempts: number;
  readonly submittedAt?: string;
  readonly settledAt: string;
}

/** The line of failures.jsonl for a failed row. */
export function failureLine({ intent, reply, outcome }: EndedRow): FailureLine | undefined {
  if (outcome.status !== 'failed') return undefined;
  const row = outcome.row ?? intent;
  if (row === undefined) return undefined;
  const submittedAt = isoTime(outcome.submittedAt);
  return {
    // The id comes first, wherever the row has it among its own columns, and even if it has none.
    ...Object.assign({ id: '' }, row.cells, { id: outcome.id }),
    error: outcome.error,
    millrace: {
      row: row.row,
      kind: row.kind,
      endpoint: row.endpoint,
      ...(outcome.jobId && { jobId: outcome.jobId }),
      ...(outcome.imageUrl !== undefined && { imageUrl: outcome.imageUrl }),
      attempts: intent?.attempt ?? 0,
      ...(submittedAt !== undefined && { submittedAt }),
      settledAt: isoTime(reply?.at ?? outcome.at),
    },
  };
}

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

/** The columns of failures.csv: the manifest's own, then the error and the facts about the row. */
export function failureColumns(own: readonly string[]): string[] {
  const ours = [
    ...errorColumns.map((name) => `error.${name}`),
    ...factColumns.map((name) => `millrace.${name}`),
  ];
  return [...new Set(['id', ...own.map(nameInFailures), ...ours])];
}

/** A line of failures.jsonl as a row of the spreadsheet. */
export function failureSheetRow({ error, millrace, ...cells }: FailureLine): SheetRow {
  const under = (prefix: string, facts: object): [string, unknown][] =>
    Object.entries(facts).map(([name, value]) => [`${prefix}.${name}`, value]);
  const own = Object.entries(cells).map(([name, value]) => [nameInFailures(name), value] as const);
  return Object.fromEntries([...own, ...under('error', error), ...under('millrace', millrace)]);
}
