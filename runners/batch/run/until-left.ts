import { combineLatest, filter, takeUntil, type MonoTypeOperatorFunction } from 'rxjs';
import { isRead } from './task.js';
import type { RowPhase, RowRun } from './row-run.js';
import type { Leaving, Stops } from './stops.js';

/**
 * Leaves a row when the run stops and the row can be gone on with by a later start: before its POST, or once its id is
 * journalled. A reply on its way is paid for and is awaited, unless nothing is any more.
 */
export function untilLeft<T>(row: RowRun, stops: Stops): MonoTypeOperatorFunction<T> {
  const isLeft = combineLatest([row.phase$, stops.leaving$]).pipe(
    filter(([phase, leaving]) => leaving !== undefined && leaving.has(leavingOf[phaseOf(row, phase)])),
  );
  return takeUntil(isLeft);
}

const leavingOf = {
  waiting: 'submits',
  wire: 'answers',
  polling: 'polls',
  ended: 'answers',
} as const satisfies Record<RowPhase, Leaving>;

/** What is free to repeat is left at once. */
function phaseOf(row: RowRun, phase: RowPhase): RowPhase {
  return phase === 'wire' && isRead(row.row) ? 'waiting' : phase;
}
