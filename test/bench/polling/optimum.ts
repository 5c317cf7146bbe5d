import { type SchedulerLike, Observable } from 'rxjs';
import { ageGrid } from '../../../src/policy/polling/run-time-distribution.js';
import type { PollSchedule } from '../../../src/policy/polling/poll-schedule.js';

/**
 * The optimum, were the law of run times known and every start too: poll times by plain dynamic programming over all
 * pairs of ages, written apart from the schedule that it is compared with. No queue.
 */
export function optimum(
  runTimes: { medianMs: number; sigma: number },
  msPerCall: number,
  scheduler: SchedulerLike,
): PollSchedule {
  const times = bestTimes(runTimes, msPerCall);
  return {
    pollTimes: ({ submittedAt }) =>
      new Observable<void>((subscriber) => {
        let index = 0;
        const arm = () => {
          const age = times[Math.min(index, times.length - 1)] ?? 0;
          const due = submittedAt + age * 1.05 ** Math.max(0, index - times.length + 1);
          index += 1;
          subscriber.add(
            scheduler.schedule(
              () => {
                subscriber.next();
                if (!subscriber.closed) arm();
              },
              Math.max(1, due - scheduler.now()),
            ),
          );
        };
        arm();
      }),
    observe: () => undefined,
  };
}

function bestTimes({ medianMs, sigma }: { medianMs: number; sigma: number }, msPerCall: number): number[] {
  const points = 900;
  const ages = Array.from(
    { length: points + 1 },
    (_, k) => medianMs * Math.exp(sigma * (-5 + (10 * k) / points)),
  );
  const ended = ages.map((_, k) => normalBelow(-5 + (10 * k) / points));
  const endedTimesAge = [0];
  for (let k = 1; k <= points; k += 1) {
    const mass = (ended[k] ?? 0) - (ended[k - 1] ?? 0);
    endedTimesAge[k] = (endedTimesAge[k - 1] ?? 0) + (mass * ((ages[k] ?? 0) + (ages[k - 1] ?? 0))) / 2;
  }
  const cost = new Float64Array(points + 1);
  const next = new Int32Array(points + 1).fill(points);
  for (let from = points - 1; from >= 0; from -= 1) {
    let best = Number.POSITIVE_INFINITY;
    for (let to = from + 1; to <= points; to += 1) {
      const mass = (ended[to] ?? 0) - (ended[from] ?? 0);
      const lag = (ages[to] ?? 0) * mass - ((endedTimesAge[to] ?? 0) - (endedTimesAge[from] ?? 0));
      const total = msPerCall * (1 - (ended[from] ?? 0)) + lag + (cost[to] ?? 0);
      if (total < best) {
        best = total;
        next[from] = to;
      }
    }
    cost[from] = best;
  }
  const times: number[] = [];
  for (let at = next[0] ?? points; at < points; at = next[at] ?? points) times.push(ages[at] ?? 0);
  return [...times, ages[points] ?? ageGrid.firstMs];
}

/** The standard normal distribution function (Zelen and Severo's series, to about 1e-7). */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const density = Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI);
  const tail =
    density *
    t *
    (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return z > 0 ? 1 - tail : tail;
}
