import { NEVER } from 'rxjs';
import type { Outcome } from '../../../src/contract/outcome.js';
import { createPlannedLaws, type PlannedLaws } from '../../../src/policy/learning/planned-laws.js';
import type { PollSchedule } from '../../../src/policy/poll-schedule.js';

/** A job that has not ended. Times in ms since the epoch, by the database's clock. */
interface AskedJob {
  readonly endpoint: string;
  readonly resolution?: string | undefined;
  readonly submittedAt: number;
  /** Status calls that found it waiting or at work. */
  readonly calls: number;
}

/** Jobs in flight are asked for so many times a second in all, at most. */
const callsPerSecond = 200;
const leastMs = 50;

/**
 * When to ask for a job again. What is learned is how long jobs take from their submission to their end, so that a job
 * needs nothing in memory; where many are in flight each is asked more rarely.
 */
export class PollTimes {
  private readonly laws: PlannedLaws;

  constructor(pollCostMs: number) {
    this.laws = createPlannedLaws(pollCostMs, {});
  }

  /** Ms from now. */
  next(
    job: AskedJob,
    at: { readonly now: number; readonly inFlight: number; readonly rate: number | null },
  ): number {
    const age = Math.max(at.now - job.submittedAt, 0);
    const planned = this.laws.planOf(nameOf(job)).nextAgeMs(age) - age;
    const perSecond = Math.min(callsPerSecond, at.rate === null ? Infinity : at.rate / 2);
    const share = (at.inFlight / perSecond) * 1_000;
    return Math.max(planned, job.calls === 0 ? share / 2 : share, leastMs);
  }

  ended(job: AskedJob, outcome: Outcome<unknown>, now: number): void {
    const { delayTimeMs, executionTimeMs } = outcome;
    const tookMs =
      delayTimeMs !== undefined && executionTimeMs !== undefined
        ? delayTimeMs + executionTimeMs
        : now - job.submittedAt;
    this.laws.observe(nameOf(job), { runTimeMs: Math.max(tookMs, 1), at: now, running: () => [] });
  }
}

function nameOf({ endpoint, resolution = '' }: AskedJob): string {
  return JSON.stringify([endpoint, resolution]);
}

/** Never asks: each poll is a piece of its own. */
export function silentSchedule(): PollSchedule {
  return { pollTimes: () => NEVER, observe: () => undefined };
}
