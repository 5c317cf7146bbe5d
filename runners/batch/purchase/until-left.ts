import { combineLatest, filter, takeUntil, type MonoTypeOperatorFunction } from 'rxjs';
import { isRead } from '../row/task.js';
import type { RowPhase, RowRun } from '../row/row-run.js';
import type { Leaving, Stops } from '../stop/stops.js';

/**
 * Leaves a row when the run stops and the row can be gone on with by a later start: before its POST, or once its id is
 * journalled. A reply on its way is paid for and is awaited, unless nothing is any more. What has ended is never left:
 * its outcome may be in the journal, and then its lines have to follow.
 */
export function untilLeft<T>(row: RowRun, stops: Stops): MonoTypeOperatorFunction<T> {
  const isLeft = combineLatest([row.phase$, stops.leaving$]).pipe(
    filter(([phase, leaving]) => leaving !== undefined && isLeftIn(phaseOf(row, phase), leaving)),
  );
  return takeUntil(isLeft);
}

const leavingOf = {
  waiting: 'submits',
  wire: 'answers',
  polling: 'polls',
} as const satisfies Partial<Record<RowPhase, Leaving>>;

function isLeftIn(phase: RowPhase, leaving: ReadonlySet<Leaving>): boolean {
  return phase !== 'ended' && leaving.has(leavingOf[phase]);
}

/** What is free to repeat is left at once. */
function phaseOf(row: RowRun, phase: RowPhase): RowPhase {
  return phase === 'wire' && isRead(row.row) ? 'waiting' : phase;
}
