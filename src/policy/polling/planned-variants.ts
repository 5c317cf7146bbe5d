import { planPolls, type PollPlan } from './plan-polls.js';
import {
  createRunTimeDistribution,
  type KeptRunTimes,
  type RunTimeDistribution,
} from './run-time-distribution.js';

/** The run-time distributions of endpoints and variants by name, each with its best poll times. */
export interface PlannedVariants {
  planOf(name: string): PollPlan;
  /** A job ended after this run time; `running` returns the ages of running jobs. True: the distribution has changed. */
  observe(name: string, end: { runTimeMs: number; at: number; running: () => readonly number[] }): boolean;
  keep(): Record<string, KeptRunTimes>;
}

interface Planned {
  readonly runTimes: RunTimeDistribution;
  plan: PollPlan;
  /** Samples since the plan was made. */
  newSamples: number;
  plannedAt: number;
}

/** The poll times are planned again when this share of the samples is new, and not more often than this. */
const replan = { share: 0.06, everyMs: 100 };

export function createPlannedVariants(
  msPerCall: number,
  kept: Readonly<Record<string, KeptRunTimes>>,
): PlannedVariants {
  const variants = new Map<string, Planned>();
  const plannedOf = (name: string) => {
    const known = variants.get(name);
    if (known !== undefined) return known;
    const runTimes = createRunTimeDistribution(kept[name]);
    const fresh = {
      runTimes,
      plan: planPolls(runTimes.massGiven([]), msPerCall),
      newSamples: 0,
      plannedAt: 0,
    };
    variants.set(name, fresh);
    return fresh;
  };
  return {
    planOf: (name) => plannedOf(name).plan,
    observe(name, { runTimeMs, at, running }) {
      const planned = plannedOf(name);
      const before = planned.runTimes.samples;
      planned.runTimes.observe(runTimeMs);
      planned.newSamples += 1;
      const hasChanged = planned.runTimes.samples < before;
      const isDue =
        planned.newSamples >= replan.share * planned.runTimes.samples &&
        at - planned.plannedAt >= replan.everyMs;
      if (!hasChanged && !isDue) return false;
      planned.plan = planPolls(planned.runTimes.massGiven(running()), msPerCall);
      planned.newSamples = 0;
      planned.plannedAt = at;
      return hasChanged;
    },
    keep: () => Object.fromEntries([...variants].map(([name, { runTimes }]) => [name, runTimes.keep()])),
  };
}
