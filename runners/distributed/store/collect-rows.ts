import type { ReplyRecord } from '../../batch/journal/record.js';
import type { RowFacts } from '../../batch/row/task.js';
import { type Transaction, inTransaction, type Database } from '../records/database.js';
import { lockLedger } from '../records/ledger-record.js';
import { keyOf, type Ending, type RowBrief, type StoredState } from '../records/row-record.js';
import { costIn } from '../records/run-change.js';
import type { EndedRow, FoundRow, KnownMoney } from './run-store.js';

interface Found {
  readonly seq: number;
  readonly facts: RowFacts;
  readonly attempts: number;
  readonly price: number | null;
  readonly takes: boolean;
  readonly jobId: string | null;
  readonly submittedAt: number | null;
  readonly ending: Ending;
  readonly isDouble: boolean;
}

const submitted = `extract(epoch from submitted_at)::float8 * 1000 as "submittedAt"`;

/** Endings after `after`, in order. A `seq` is taken under the run's lock, so no gap is filled in later. */
export async function collectRows(
  on: Transaction,
  run: number,
  after: number,
  limit: number,
): Promise<EndedRow[]> {
  const text = `select * from (
      (select seq::float8, facts, attempt as attempts, price::float8, takes, job_id as "jobId", ${submitted}, ending,
        false as "isDouble" from millrace.rows where run = $1 and seq > $2 order by seq limit $3)
      union all
      (select seq::float8, facts, attempt as attempts, price::float8, false, null, ${submitted}, ending, true
        from millrace.doubles where run = $1 and seq > $2 order by seq limit $3)
    ) as both_kinds order by seq limit $3`;
  const { rows } = await on.query<Found>(text, [run, after, limit]);
  return rows.map(({ jobId, submittedAt, ...row }) => ({
    ...row,
    id: row.facts.id,
    ...(jobId !== null && { jobId }),
    ...(submittedAt !== null && { submittedAt }),
  }));
}

export async function findRows(on: Transaction, run: number, ids: readonly string[]): Promise<FoundRow[]> {
  const text = `select brief, state as place, attempt as attempts, job_id as "jobId",
      late_job_id as "lateJobId", ending, seq::float8
    from millrace.rows where run = $1 and id = any($2)`;
  const { rows } = await on.query<
    Nullable<FoundRow> & { brief: RowBrief; place: StoredState; attempts: number }
  >(text, [run, ids.map(keyOf)]);
  return rows.map(({ brief: { id }, place, attempts, jobId, lateJobId, ending, seq }) => ({
    ...{ id, place, attempts },
    ...(jobId !== null && { jobId }),
    ...(lateJobId !== null && { lateJobId }),
    ...(ending !== null && { ending }),
    ...(seq !== null && { seq }),
  }));
}

type Nullable<T> = { [K in keyof T]-?: NonNullable<T[K]> | null };

const pageRows = 500;

/** Money spent and held by a run, without rows whose picture is being saved, and without endings for which `isKnown` is false. */
export function moneyOf(
  { pool }: Database,
  run: number,
  after: number,
  isKnown: (row: EndedRow) => Promise<boolean>,
): Promise<KnownMoney> {
  return inTransaction(pool, async (on) => {
    // No row ends meanwhile: that needs the ledger's lock.
    const { spent, unknown } = await lockLedger(on, run);
    const money = { spent, unknown };
    const takeOff = ({ cost, source }: ReturnType<typeof costIn>): void => {
      if (source === 'unknown') money.unknown -= cost ?? 0;
      else if (source !== 'none') money.spent -= cost ?? 0;
    };
    const text = `select reply from millrace.rows where run = $1 and state = 'saving'`;
    for (const { reply } of (await on.query<{ reply: ReplyRecord }>(text, [run])).rows) takeOff(reply);
    for (let from = after; ;) {
      const page = await collectRows(on, run, from, pageRows);
      for (const row of page) if (!(await isKnown(row))) takeOff(costIn(row.ending));
      if (page.length < pageRows) return money;
      from = page.at(-1)?.seq ?? from;
    }
  });
}
