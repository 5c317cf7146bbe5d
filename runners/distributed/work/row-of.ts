import { intentRecord } from '../../batch/row/records-of.js';
import { RowRun } from '../../batch/row/row-run.js';
import type { RowFacts } from '../../batch/row/task.js';
import type { RowBrief, RowRecord } from '../store/row-record.js';

/** The row of a piece as a local run knows it, so that its records are made the same way. */
export function rowOf(record: RowRecord, facts: RowFacts, statusCalls: number): RowRun {
  const { attempt, jobId, price, takes, submittedAt } = record;
  const row = new RowRun({ what: 'send', row: facts, attempts: attempt });
  row.jobId = jobId ?? undefined;
  row.price = price;
  row.submittedAt = submittedAt ?? undefined;
  row.statusCalls = () => statusCalls;
  const intended = { at: submittedAt ?? 0, attempt, price, ...(takes && { takes: 'job' as const }) };
  row.intent = intentRecord(facts, intended);
  return row;
}

/** All of the facts that the records of an ended row go by: what it sent is not asked for again. */
export function factsOf({ id, row, hash, kind, endpoint, mode, resolution }: RowBrief): RowFacts {
  const request = { kind: 'job', input: {} } as const;
  return { ...{ id, row, hash, kind, endpoint, mode, resolution }, request, cells: {}, columns: {} };
}
