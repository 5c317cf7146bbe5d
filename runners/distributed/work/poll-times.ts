import { NEVER } from 'rxjs';
import type { Outcome } from '../../../src/contract/outcome.js';
import { createPlannedVariants, type PlannedVariants } from '../../../src/policy/polling/planned-variants.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';

/** A job that has not ended. Times in ms since the epoch, by the database's clock. */
interface AskedJob {
  readonly endpoint: string;
  readonly resolution?: string | undefined;
  readonly submittedAt: number;
  /** Status calls that found it queued or running. */
  readonly calls: number;
}

/** At most this many status calls a second for all jobs in flight. */
const callsPerSecond = 200;
const leastMs = 50;

/**
 * When to poll a job again. It learns how long jobs take from submission to end, so nothing has to be kept for each job.
 * The more jobs are in flight, the more rarely each one is polled.
 */
export class PollTimes {
  private readonly runTimes: PlannedVariants;

  constructor(pollCostMs: number) {
    this.runTimes = createPlannedVariants(pollCostMs, {});
  }

  /** Ms from now. */
  next(
    job: AskedJob,
    at: { readonly now: number; readonly inFlight: number; readonly rate: number | null },
  ): number {
    const age = Math.max(at.now - job.submittedAt, 0);
    const planned = this.runTimes.planOf(nameOf(job)).nextAgeMs(age) - age;
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
    this.runTimes.observe(nameOf(job), { runTimeMs: Math.max(tookMs, 1), at: now, running: () => [] });
  }
}

function nameOf({ endpoint, resolution = '' }: AskedJob): string {
  return JSON.stringify([endpoint, resolution]);
}

/** Never polls: each poll is a work item of its own. */
export function silentSchedule(): PollSchedule {
  return { pollTimes: () => NEVER, observe: () => undefined };
}
