import type { SchedulerLike } from 'rxjs';
import {
  adaptiveConcurrency,
  type AdaptiveConcurrency,
} from '../../../src/policy/gates/adaptive-concurrency.js';
import type { Plan } from '../manifest/plan-manifest.js';

/** How many rows may be in flight: a number that stands, or one that is found out. */
export type Slots = Pick<AdaptiveConcurrency, 'limit'> & Partial<AdaptiveConcurrency>;

const usual = 8;

/** The slots of a run. Without a number: found out where rows go to /run, as /runsync holds a worker and a connection each. */
export function slotsOf(
  concurrency: number | 'auto' | undefined,
  { plan, mode, scheduler }: { plan: Plan; mode: 'sync' | 'async' | undefined; scheduler: SchedulerLike },
): Slots {
  if (typeof concurrency === 'number') return { limit: concurrency };
  const goesToRun = mode === 'async' || (mode === undefined && plan.byKind.job > 0);
  return concurrency === 'auto' || goesToRun ? adaptiveConcurrency({ scheduler }) : { limit: usual };
}
