import { isExpired } from '../../batch/row/left-rows.js';
import { claimJobs } from '../records/claim-jobs.js';
import { inTransaction, type Database, wakeWorkers } from '../records/database.js';
import { keyOf, lockRows, type RowRecord } from '../records/row-record.js';
import { costIn, RunChange } from '../records/run-change.js';
import type { TakeUp, HeldSettlement, Settled } from './run-store.js';

/** Takes up rows again that had ended. A row without a job id cannot be polled. */
export function takeUpRows(
  database: Database,
  run: number,
  ids: readonly string[],
  to: TakeUp,
): Promise<string[]> {
  return inTransaction(database.pool, async (on) => {
    const change = await RunChange.begin(database, on, run);
    const rows = await lockRows(on, run, { keys: ids.map(keyOf) });
    const taken = rows.filter((row) => (to === 'buy' ? toBuy(change, row) : toPoll(change, row)));
    await change.save();
    await wakeWorkers(on);
    return taken.map(({ brief }) => brief.id);
  });
}

function toBuy(change: RunChange, row: RowRecord): boolean {
  if (row.state !== 'ended') return false;
  change.reopen(row, { state: 'left', refusals: 0, jobId: null, lateJobId: null });
  return true;
}

/** Polls the row's job again. What was held for the row is reserved again. */
function toPoll(change: RunChange, row: RowRecord, jobId = row.jobId ?? row.lateJobId): boolean {
  const { state, ending } = row;
  if (state !== 'ended' || ending === null || jobId === null) return false;
  const isHeld = costIn(ending).source === 'unknown';
  if (isHeld) change.unbook(ending);
  const price = isHeld ? costIn(ending).cost : 0;
  const taken = change.reopen(row, { state: 'accepted', jobId, price });
  // One that has expired was missing for a minute: the first 404 is believed.
  const missing = isExpired(jobId, ending.outcome) ? { missing: { since: 0, answers: 1 } } : {};
  change.schedule('poll', taken, 0, { calls: 0, failures: 0, ...missing });
  return true;
}

/** Settles a row that may have been bought. */
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

/** Whether the same settlement was written before, and only its confirmation was lost. */
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
