import { claimJobs } from './claim-jobs.js';
import { inTransaction, type Database } from './database.js';
import { keyOf, lockRows, type RowRecord } from './row-record.js';
import { RunChange } from './run-change.js';
import type { HeldSettlement, Settled } from './run-store.js';
import { toPoll } from './take-up-rows.js';
import { wakeWorkers } from './wake-workers.js';

/** Ends the doubt about a row that may have been bought. */
export function settleHeld(
  database: Database,
  run: number,
  id: string,
  settlement: HeldSettlement,
): Promise<Settled> {
  return inTransaction(database.pool, async (on) => {
    const change = await RunChange.begin(database, on, run);
    const [row] = await lockRows(on, run, { keys: [keyOf(id)] });
    if (row === undefined) return 'missing';
    if (!isHeld(row)) return isSettledSo(row, settlement) ? 'settled' : 'otherwise';
    settle(change, row, settlement);
    if ('jobId' in settlement)
      await claimJobs(on, run, [{ key: row.key, endpoint: row.brief.endpoint, jobId: settlement.jobId }]);
    await change.save();
    await wakeWorkers(on);
    return 'settled';
  });
}

function settle(change: RunChange, row: RowRecord, settlement: HeldSettlement): void {
  if ('jobId' in settlement) {
    toPoll(change, row, settlement.jobId);
    return;
  }
  if (row.ending !== null) change.unbook(row.ending);
  const open = change.reopen(row, { state: 'left', refusals: 0 });
  if ('outcome' in settlement) change.end(open, { outcome: settlement.outcome });
}

/** The answer to the first telling was lost on its way. */
function isSettledSo({ state, jobId }: RowRecord, settlement: HeldSettlement): boolean {
  if ('jobId' in settlement) return jobId === settlement.jobId;
  return 'notSent' in settlement && state === 'left';
}

function isHeld({ state, ending }: RowRecord): boolean {
  const outcome = state === 'ended' ? ending?.outcome : undefined;
  return (
    outcome?.status === 'failed' && (outcome.error.code === 'unknown' || outcome.error.code === 'expired')
  );
}
