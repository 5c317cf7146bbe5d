import { inTransaction, type Database } from './database.js';
import { keyOf, lockRows, type RowRecord } from './row-record.js';
import { costIn, RunChange } from './run-change.js';
import type { TakeUp } from './run-store.js';
import { wakeWorkers } from './wake-workers.js';

/** Takes up rows again that had ended. A row without a job cannot be polled. */
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

/** What was held for it is reserved again. */
export function toPoll(change: RunChange, row: RowRecord, jobId = row.jobId ?? row.lateJobId): boolean {
  const { state, ending } = row;
  if (state !== 'ended' || ending === null || jobId === null) return false;
  const isHeld = costIn(ending).source === 'unknown';
  if (isHeld) change.unbook(ending);
  const price = isHeld ? costIn(ending).cost : 0;
  const taken = change.reopen(row, { state: 'accepted', jobId, price });
  change.schedule('poll', taken, 0);
  return true;
}
