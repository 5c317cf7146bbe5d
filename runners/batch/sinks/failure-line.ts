import type { RowError } from '../journal/record.js';
import type { RowKind } from '../manifest/manifest-row.js';
import { isoTime, type EndedRow } from './line-text.js';
import type { SheetRow } from './spreadsheet.js';

/** A line of failures.jsonl: the row as it is to be read again, and what became of it. */
export interface FailureLine {
  readonly id: string;
  readonly [column: string]: unknown;
  readonly error: RowError;
  readonly millrace: FailureFacts;
}

interface FailureFacts {
  readonly row: number;
  /** `null` where the row does not say. */
  readonly kind: RowKind | null;
  readonly endpoint: string;
  readonly jobId?: string;
  /** Where the picture lies that is paid and not saved. */
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
  const { code, message, detail, httpStatus, retryable, paid } = outcome.error;
  const submittedAt = isoTime(outcome.submittedAt);
  return {
    // First, whatever the row's own columns are, and whether or not they have one.
    ...Object.assign({ id: '' }, row.cells, { id: outcome.id }),
    error: {
      code,
      message,
      ...(detail !== undefined && { detail }),
      ...(httpStatus !== undefined && { httpStatus }),
      retryable,
      paid,
    },
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

/** The columns of failures.csv: the manifest's own, then what became of the row. */
export function failureColumns(own: readonly string[]): string[] {
  const ours = [
    ...errorColumns.map((name) => `error.${name}`),
    ...factColumns.map((name) => `millrace.${name}`),
  ];
  return [...new Set(['id', ...own, ...ours])];
}

/** A line of failures.jsonl as a spreadsheet has it. */
export function failureSheetRow({ error, millrace, ...cells }: FailureLine): SheetRow {
  const under = (prefix: string, facts: object): [string, unknown][] =>
    Object.entries(facts).map(([name, value]) => [`${prefix}.${name}`, value]);
  return { ...cells, ...Object.fromEntries([...under('error', error), ...under('millrace', millrace)]) };
}
