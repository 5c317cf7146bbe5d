/**
 * Who is at work and who waits, at one endpoint that serves in order of arrival. Jobs are numbered as they are
 * submitted. While all of the queue is ours, job i starts when the (i − width)th of those before it has ended, `width`
 * being the workers. When others use the workers too, that count wavers; then only the foremost waiting job is worth a
 * question, about when the pace of our own starts says so. Both are learned from the exact start times that the
 * service reports, and corrected by what the polls see.
 */
export interface QueueLine {
  /** A job was submitted: its number. */
  join(): number;
  /** A job ended (or is no longer ours to watch). `startedAt` only where the service reported it. */
  ended(rank: number, end: { at: number; startedAt?: number; waited: boolean }): void;
  /** A poll saw this job at work. `startedAt` only where the service reported it. */
  sawWorking(rank: number, at: number, startedAt?: number): void;
  /** A poll saw this job waiting. `believedStarted`: by count it should have been at work. */
  sawWaiting(rank: number, at: number, believedStarted: boolean): void;
  /** When this job is believed to have started or to start; `undefined`: it waits for those before it. */
  startOf(rank: number, submittedAt: number): BelievedStart | undefined;
  readonly width: number;
}

export interface BelievedStart {
  readonly at: number;
  /** `count`: exact, by those that ended. `pace`: a forecast. */
  readonly by: 'count' | 'pace';
  /** Mean distance of two starts of ours. */
  readonly gapMs: number;
}

const rememberedEnds = 4_096;
const learningRate = 0.08;
/** A width that wavers by more than this is shared with somebody else. */
const sharedFrom = 0.6;

export function createQueueLine(): QueueLine {
  let joined = 0;
  let width = Number.POSITIVE_INFINITY;
  let wavering = 0;
  /** All before this one are known to have started. */
  let frontier = 0;
  const ends = createEnds();
  const pace = createPace();

  const learnWidth = (together: number) => {
    if (width === Number.POSITIVE_INFINITY) width = together;
    wavering += learningRate * (Math.min(Math.abs(together - width), 3) - wavering);
    width += (together > width * 1.5 + 1 ? 1 : learningRate) * (together - width);
  };
  const started = (rank: number, startedAt: number | undefined) => {
    frontier = Math.max(frontier, rank + 1);
    if (startedAt !== undefined) pace.observe(rank, startedAt);
  };

  return {
    join: () => joined++,
    ended(rank, { at, startedAt, waited }) {
      if (startedAt !== undefined) {
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
      const ahead = Math.max(1, rank - ends.before(at));
      if (width === Number.POSITIVE_INFINITY) width = ahead;
      else if (believedStarted && ahead < width - 1) wavering = Math.max(wavering, 2 * sharedFrom);
      else if (ahead < width) width = ahead;
    },
    startOf(rank, submittedAt) {
      if (wavering > sharedFrom && rank >= frontier) {
        if (rank > frontier) return undefined;
        return {
          at: Math.max(submittedAt, pace.forecast(rank) ?? submittedAt),
          by: 'pace',
          gapMs: pace.gapMs(),
        };
      }
      const needed = rank - Math.max(1, Math.round(width)) + 1;
      const freedAt = needed <= 0 ? submittedAt : ends.nth(needed);
      if (freedAt === undefined && rank >= frontier) return undefined;
      return { at: Math.max(submittedAt, freedAt ?? submittedAt), by: 'count', gapMs: pace.gapMs() };
    },
    get width() {
      return width;
    },
  };
}

/** Times of end, kept in order; the oldest are only counted. */
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

/** Our own starts: the last that is known exactly, and the mean distance between two. */
function createPace() {
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
