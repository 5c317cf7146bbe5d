import { isRead } from '../../batch/row/task.js';
import { claimJobs, type RowJob } from '../records/claim-jobs.js';
import { inTransaction, type Database, type Transaction, wakeWorkers } from '../records/database.js';
import { lockLedger, saveLedger } from '../records/ledger-record.js';
import { scheduleItems } from '../records/work-queue.js';
import { keyOf, type RowBrief } from '../records/row-record.js';
import type { FedRow } from './run-store.js';

/** Inserts rows to be done, with a work item for each. */
export async function feedRows(database: Database, run: number, rows: readonly FedRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  return inTransaction(database.pool, async (on) => {
    const ledger = await lockLedger(on, run);
    const taken = await insert(on, run, rows);
    await claimJobs(on, run, rows.flatMap(jobOf));
    const items = (state: 'open' | 'accepted') =>
      taken.filter((row) => row.state === state).map(({ item }) => ({ item, afterMs: 0 }));
    const toSend = items('open');
    const toPoll = items('accepted');
    ledger.open += toSend.length;
    ledger.inFlight += toPoll.length;
    await saveLedger(on, run, ledger);
    await scheduleItems(database.boss, on, { run, kind: 'submit' }, toSend);
    await scheduleItems(database.boss, on, { run, kind: 'poll' }, toPoll);
    await wakeWorkers(on);
    return taken.length;
  });
}

interface TakenRow {
  readonly item: string;
  readonly state: 'open' | 'accepted';
}

async function insert(on: Transaction, run: number, rows: readonly FedRow[]): Promise<TakenRow[]> {
  const text = `insert into millrace.rows (run, id, facts, brief, attempt, listed, state, takes, job_id, price, submitted_at)
    select $1, f.id, f.facts, f.brief, f.attempt, f.listed,
      case when f.job_id is null then 'open' else 'accepted' end, f.job_id is not null, f.job_id,
      case when f.job_id is not null then 0 end, case when f.job_id is not null then now() end
    from unnest($2::text[], $3::json[], $4::json[], $5::int[], $6::bigint[], $7::json[])
      as f (id, facts, brief, attempt, listed, job_id)
    on conflict (run, id) do update set facts = excluded.facts, brief = excluded.brief, listed = excluded.listed,
      state = excluded.state, takes = excluded.takes, job_id = excluded.job_id, price = excluded.price,
      submitted_at = excluded.submitted_at, attempt = greatest(rows.attempt, excluded.attempt)
      where rows.state = 'left'
    returning piece as item, state`;
  const column = <T>(value: (row: FedRow) => T): T[] => rows.map(value);
  const { rows: taken } = await on.query<TakenRow>(text, [
    run,
    column(({ facts }) => keyOf(facts.id)),
    column(({ facts }) => JSON.stringify(facts)),
    column((row) => JSON.stringify(briefOf(row))),
    column(({ attempts = 0 }) => attempts),
    column(({ price }) => price),
    column(({ jobId }) => (jobId === undefined ? null : JSON.stringify(jobId))),
  ]);
  return taken;
}

/** The job of a row that was bought elsewhere. */
function jobOf({ facts, jobId }: FedRow): RowJob[] {
  return jobId === undefined ? [] : [{ key: keyOf(facts.id), endpoint: facts.endpoint, jobId }];
}

function briefOf({ facts, collides = false }: FedRow): RowBrief {
  const { id, row, hash, kind, endpoint, mode, resolution } = facts;
  return { id, row, hash, kind, endpoint, mode, resolution, isRead: isRead(facts), collides };
}
