import { planPolls, type PollPlan } from './plan-polls.js';
import { createRunTimeLaw, type KeptLaw, type RunTimeLaw } from './run-time-law.js';

/** The laws of run times by name, each with the poll times that are best under it. */
export interface PlannedLaws {
  planOf(name: string): PollPlan;
  /** A job ended after having run for so long; `running` gives the ages of those at work. True: the law has changed. */
  observe(name: string, end: { runTimeMs: number; at: number; running: () => readonly number[] }): boolean;
  keep(): Record<string, KeptLaw>;
}

interface Planned {
  readonly law: RunTimeLaw;
  plan: PollPlan;
  /** Ends seen since the plan was made. */
  news: number;
  plannedAt: number;
}

/** A law is planned anew when this share of its samples is new, and not more often than this. */
const replan = { share: 0.06, everyMs: 100 };

export function createPlannedLaws(msPerCall: number, kept: Readonly<Record<string, KeptLaw>>): PlannedLaws {
  const laws = new Map<string, Planned>();
  const plannedOf = (name: string) => {
    const known = laws.get(name);
    if (known !== undefined) return known;
    const law = createRunTimeLaw(kept[name]);
    const fresh = { law, plan: planPolls(law.massGiven([]), msPerCall), news: 0, plannedAt: 0 };
    laws.set(name, fresh);
    return fresh;
  };
  return {
    planOf: (name) => plannedOf(name).plan,
    observe(name, { runTimeMs, at, running }) {
      const planned = plannedOf(name);
      const before = planned.law.samples;
      planned.law.observe(runTimeMs);
      planned.news += 1;
      const hasChanged = planned.law.samples < before;
      const isDue =
        planned.news >= replan.share * planned.law.samples && at - planned.plannedAt >= replan.everyMs;
      if (!hasChanged && !isDue) return false;
      planned.plan = planPolls(planned.law.massGiven(running()), msPerCall);
      planned.news = 0;
      planned.plannedAt = at;
      return hasChanged;
    },
    keep: () => Object.fromEntries([...laws].map(([name, { law }]) => [name, law.keep()])),
  };
}
