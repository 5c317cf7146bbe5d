import type { StopCause } from '../../batch/stop/stops.js';
import { worstEnd } from '../../batch/stop/worst-end.js';
import type { Transaction } from './database.js';

/** Ends a run before its rows do. Of several causes the one that matters most stays, and all that any of them leaves is left. */
export async function stopRun(on: Transaction, run: number, cause: StopCause): Promise<void> {
  const { rows } = await on.query<{ stop: StopCause | null }>(
    'select stop from millrace.runs where run = $1 for update',
    [run],
  );
  const before = rows[0]?.stop ?? cause;
  const ends = [before, cause].map(({ exitCode, reason }) => ({ exitCode, reason }));
  const leaves = [...new Set([...before.leaves, ...cause.leaves])];
  await on.query('update millrace.runs set stop = $2 where run = $1', [
    run,
    JSON.stringify({ ...worstEnd(ends), leaves }),
  ]);
}
