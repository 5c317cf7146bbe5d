/**
 * Estimates which jobs run and which wait, at one endpoint that serves in order of arrival. Jobs are numbered as they are
 * submitted. While the whole queue is ours, job i starts when i − width of the jobs before it have ended; `width` is the number
 * of workers. If others use the workers too, that number varies: then only the first waiting job is worth a poll, at the time
 * that the rate of our own starts predicts. Both are learned from the exact start times that the service reports, and corrected
 * by polls.
 */
export interface QueueModel {
  /** Call it when a job is submitted. Returns its number. */
  join(): number;
  /** Call it when a job has ended or is no longer followed. `startedAt` only if the service reported it. */
  ended(rank: number, end: { at: number; startedAt?: number | undefined; waited: boolean }): void;
  /** Call it when a poll saw this job running. `startedAt` only if the service reported it. */
  sawWorking(rank: number, at: number, startedAt?: number): void;
  /** Call it when a poll saw this job waiting. `believedStarted`: by count it should have been running. */
  sawWaiting(rank: number, at: number, believedStarted: boolean): void;
  /** The estimated start of this job, past or future; `undefined` if it waits for those before it. */
  startOf(rank: number, submittedAt: number): BelievedStart | undefined;
}

export interface BelievedStart {
  readonly at: number;
  /** `count`: exact, from the jobs that have ended. `rate`: a forecast. */
  readonly by: 'count' | 'rate';
  /** Mean time between two starts of our jobs, in ms. */
  readonly gapMs: number;
}

const rememberedEnds = 4_096;
const learningRate = 0.08;
/** If the width varies by more than this, other clients use the workers too. */
const sharedFrom = 0.6;

export function createQueueModel(): QueueModel {
  let joined = 0;
  let width = Number.POSITIVE_INFINITY;
  let wavering = 0;
  /** The newest job whose start is known, and whether it started at once: then those behind it have probably not waited either. */
  let [newest, isFree] = [-1, false];
  /** All jobs before this one are known to have started. */
  let frontier = 0;
  const ends = createEnds();
  const starts = createStarts();

  const learnWidth = (together: number) => {
    if (width === Number.POSITIVE_INFINITY) width = together;
    wavering += learningRate * (Math.min(Math.abs(together - width), 3) - wavering);
    width += (together > width * 1.5 + 1 ? 1 : learningRate) * (together - width);
  };
  const started = (rank: number, startedAt: number | undefined) => {
    frontier = Math.max(frontier, rank + 1);
    if (startedAt !== undefined) starts.observe(rank, startedAt);
  };

  return {
    join: () => joined++,
    ended(rank, { at, startedAt, waited }) {
      if (startedAt !== undefined) {
        if (rank > newest) [newest, isFree] = [rank, !waited];
        const together = Math.max(1, rank + 1 - ends.before(startedAt + 1));
        if (waited) learnWidth(together);
        else if (together > width) width = together;
      }
      started(rank, waited ? startedAt : undefined);
      ends.add(at);
    },
    sawWorking(rank, at, startedAt) {
      const together = rank + 1 - ends.before(at);
      if (together > width * 1.25 + 1) {
        width = together;
        wavering = Math.max(wavering, 2 * sharedFrom);
      }
      started(rank, startedAt);
    },
    sawWaiting(rank, at, believedStarted) {
      isFree = false;
      const ahead = Math.max(1, rank - ends.before(at));
      if (width === Number.POSITIVE_INFINITY) width = ahead;
      else if (believedStarted && ahead < width - 1) wavering = Math.max(wavering, 2 * sharedFrom);
      else if (ahead < width) width = ahead;
    },
    startOf(rank, submittedAt) {
      if (wavering > sharedFrom && rank >= frontier && !isFree) {
        if (rank > frontier) return undefined;
        return {
          at: Math.max(submittedAt, starts.forecast(rank) ?? submittedAt),
          by: 'rate',
          gapMs: starts.gapMs(),
        };
      }
      const needed = rank - Math.max(1, Math.round(width)) + 1;
      const freedAt = needed <= 0 ? submittedAt : ends.nth(needed);
      if (freedAt === undefined && rank >= frontier) return undefined;
      return { at: Math.max(submittedAt, freedAt ?? submittedAt), by: 'count', gapMs: starts.gapMs() };
    },
  };
}

/** The times at which jobs ended, in order; the oldest are only counted. */
function createEnds() {
  let forgotten = 0;
  let times: number[] = [];
  return {
    add(at: number) {
      times.splice(lowerBound(times, at), 0, at);
      if (times.length <= 2 * rememberedEnds) return;
      forgotten += times.length - rememberedEnds;
      times = times.slice(-rememberedEnds);
    },
    before: (at: number) => forgotten + lowerBound(times, at),
    /** Time of the n-th end, counted from 1. */
    nth: (n: number) => (n <= forgotten ? times[0] : times[n - forgotten - 1]),
  };
}

/** The starts of our jobs: the last exact one, and the mean time between two. */
function createStarts() {
  let last: { rank: number; at: number } | undefined;
  let gapMs: number | undefined;
  return {
    observe(rank: number, at: number) {
      if (last !== undefined && rank <= last.rank) return;
      if (last !== undefined) {
        const steps = rank - last.rank;
        const gap = Math.max(0, (at - last.at) / steps);
        gapMs = gapMs === undefined ? gap : gapMs + Math.min(1, learningRate * steps) * (gap - gapMs);
      }
      last = { rank, at };
    },
    forecast: (rank: number) =>
      last === undefined || gapMs === undefined ? undefined : last.at + (rank - last.rank) * gapMs,
    gapMs: () => gapMs ?? 250,
  };
}

function lowerBound(values: readonly number[], wanted: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}
