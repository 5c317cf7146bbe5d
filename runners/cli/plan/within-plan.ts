import { stopCauses, takeRows, type Run, type Task } from '../../batch/internal.js';
import type { PlannedRows, SavedPlan } from './saved-plan.js';

/**
 * The tasks of a run by a plan. A row that differs from the plan, because the manifest was changed after the
 * comparison, stops the run and is not sent. The comparison is in a file of its own, because only a plan loads it.
 */
export function withinPlan(plan: SavedPlan, take = takeRows): typeof takeRows {
  return async function* (run: Run): AsyncGenerator<Task, void, void> {
    let planned = plan.rows();
    let priority: number | undefined;
    let isSending = false;
    try {
      for await (const task of take(run)) {
        if (task.what === 'send' && task.row.priority !== priority) {
          await planned.return();
          planned = plan.rows();
          ({ priority } = task.row);
        }
        if (task.what === 'send' && !(await isPlanned(planned, task.row))) {
          const { id, row } = task.row;
          run.stops.stop(stopCauses.manifestChanged(`row ${row} (id "${id}") is not in the plan`, isSending));
          return;
        }
        isSending ||= task.what === 'send';
        yield task;
      }
    } finally {
      await planned.return();
    }
  };
}

/** The plan has the rows of one priority in the manifest's order. */
async function isPlanned(
  planned: PlannedRows,
  { id, hash }: { readonly id: string; readonly hash: string },
): Promise<boolean> {
  for (;;) {
    const { done, value } = await planned.next();
    if (done === true) return false;
    if (value.id === id) return value.hash === hash;
  }
}
