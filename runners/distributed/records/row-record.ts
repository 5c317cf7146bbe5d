import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { OutcomeRecord, ReplyRecord } from '../../batch/journal/record.js';
import type { RowFacts } from '../../batch/row/task.js';
import type { Transaction } from './database.js';

/** The part of a row's facts that its work items need: all but its request and its cells. */
export type RowBrief = Pick<RowFacts, 'row' | 'hash' | 'kind' | 'endpoint' | 'mode' | 'resolution'> & {
  readonly id: string;
  /** It buys nothing and is free to repeat: a GET of a route. */
  readonly isRead: boolean;
  /** Another row's id differs from this one only in case. */
  readonly collides: boolean;
};

/** How a row ended. A reply without an outcome: it completed, and the collector has to save its picture. */
export type Ending =
  | { readonly reply: ReplyRecord; readonly outcome?: undefined }
  | { readonly reply?: ReplyRecord; readonly outcome: OutcomeRecord };

/** `left`: nothing was sent that has no answer, and this start does not do it. */
export type StoredState = 'open' | 'left' | 'sent' | 'accepted' | 'saving' | 'ended';

/** A row of the table `rows`, without its facts. Times in ms since the epoch, by the database's clock. */
export interface RowRecord {
  readonly key: string;
  readonly item: string;
  readonly brief: RowBrief;
  readonly state: StoredState;
  readonly attempt: number;
  readonly refusals: number;
  readonly doubles: number;
  readonly listed: MicroDollars | null;
  readonly price: MicroDollars | null;
  readonly takes: boolean;
  readonly jobId: string | null;
  readonly lateJobId: string | null;
  readonly submittedAt: number | null;
  readonly worker: string | null;
  readonly reply: ReplyRecord | null;
  readonly ending: Ending | null;
  readonly seq: number | null;
}

/** The key of an id. PostgreSQL's text cannot hold half a surrogate pair: such an id is escaped, so that each id has its own key. */
export function keyOf(id: string): string {
  return /\p{Surrogate}/u.test(id) ? JSON.stringify(id) : id;
}

const columns = `id as key, piece as item, brief, state, attempt, refusals, doubles, listed::float8, price::float8, takes,
  job_id as "jobId", late_job_id as "lateJobId", worker, reply, ending, seq::float8,
  extract(epoch from submitted_at)::float8 * 1000 as "submittedAt"`;

/** Locks rows until the transaction ends, in one fixed order: by key, by the name of their work items, or by worker. */
export async function lockRows(
  on: Transaction,
  run: number,
  by: { keys: readonly string[] } | { items: readonly string[] } | { workers: readonly string[] },
): Promise<RowRecord[]> {
  const [where, values] =
    'keys' in by
      ? ['id = any($2)', by.keys]
      : 'items' in by
        ? ['piece = any($2)', by.items]
        : ['worker = any($2)', by.workers];
  if (values.length === 0) return [];
  const text = `select ${columns} from millrace.rows where run = $1 and ${where} order by id for update`;
  return (await on.query<RowRecord>(text, [run, [...values]])).rows;
}

/** Reads rows without a lock: they may have changed since. */
export async function peekRows(on: Transaction, run: number, items: readonly string[]): Promise<RowRecord[]> {
  const text = `select ${columns} from millrace.rows where run = $1 and piece = any($2)`;
  return (await on.query<RowRecord>(text, [run, [...items]])).rows;
}

export async function readFacts(
  on: Transaction,
  run: number,
  keys: readonly string[],
): Promise<ReadonlyMap<string, RowFacts>> {
  const text = 'select id, facts from millrace.rows where run = $1 and id = any($2)';
  const { rows } = await on.query<{ id: string; facts: RowFacts }>(text, [run, [...keys]]);
  return new Map(rows.map(({ id, facts }) => [id, facts]));
}

/** Writes all columns that can change. The rows are locked. */
export async function saveRows(on: Transaction, run: number, rows: readonly RowRecord[]): Promise<void> {
  if (rows.length === 0) return;
  const text = `update millrace.rows r set
      state = c.state, attempt = c.attempt, refusals = c.refusals, doubles = c.doubles, price = c.price,
      job_id = c.job_id, late_job_id = c.late_job_id, worker = c.worker, reply = c.reply, ending = c.ending, seq = c.seq,
      submitted_at = to_timestamp(c.submitted_at / 1000)
    from unnest($2::text[], $3::text[], $4::int[], $5::int[], $6::int[], $7::bigint[], $8::json[], $9::json[],
      $10::uuid[], $11::json[], $12::json[], $13::bigint[], $14::float8[])
      as c (id, state, attempt, refusals, doubles, price, job_id, late_job_id, worker, reply, ending, seq,
        submitted_at)
    where r.run = $1 and r.id = c.id`;
  const column = <T>(value: (row: RowRecord) => T): T[] => rows.map(value);
  await on.query(text, [
    run,
    column((row) => row.key),
    column((row) => row.state),
    column((row) => row.attempt),
    column((row) => row.refusals),
    column((row) => row.doubles),
    column((row) => row.price),
    column((row) => asJson(row.jobId)),
    column((row) => asJson(row.lateJobId)),
    column((row) => row.worker),
    column((row) => asJson(row.reply)),
    column((row) => asJson(row.ending)),
    column((row) => row.seq),
    column((row) => row.submittedAt),
  ]);
}

export function asJson(value: unknown): string | null {
  return value === null || value === undefined ? null : JSON.stringify(value);
}
