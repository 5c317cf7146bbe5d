import type { RunEvent } from '../../batch/context/run-event.js';
import type { Summary } from '../../batch/sinks/summary-file.js';
import { foldProgress } from './fold-progress.js';
import type { ProgressView } from './progress-view.js';

/** From a tenth of a second to an hour. */
const seconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

/** The figures of the metrics file at one moment. */
export interface Figures {
  /** Over all starts of the run, as summary.json has it: a few seconds old. `undefined` until there is one. */
  readonly summary: Summary | undefined;
  /** Of this start, as it stands now. */
  readonly progress: ProgressView;
  /** Seconds of this start: in the service's queue, at work there, and from a row's first request to its end. */
  readonly queue: Histogram;
  readonly execution: Histogram;
  readonly row: Histogram;
  /** Of the latest start; absent while it runs and when it ended without a last event. */
  readonly exitCode?: number;
}

/** Folds the events of a run into figures. Times in ms by one clock; memory is proportional to rows in flight. */
export interface MetricsFold {
  take(event: RunEvent, at: number): void;
  figures(summary: Summary | undefined, at: number): Figures;
}

/** An empty fold. */
export function foldMetrics(settings: { concurrency: number; startedAt: number }): MetricsFold {
  const progress = foldProgress(settings);
  const [queue, execution, row] = [
    createHistogram(seconds),
    createHistogram(seconds),
    createHistogram(seconds),
  ];
  const begun = new Map<string, number>();
  let last: Extract<RunEvent, { type: 'finished' }> | undefined;
  const note = (histogram: Histogram, ms: number | undefined) => {
    if (ms !== undefined) histogram.add(ms / 1000);
  };
  return {
    take(event, at) {
      progress.take(event, at);
      if (event.type === 'finished') last = event;
      if (event.type === 'ended') {
        const from = begun.get(event.id);
        begun.delete(event.id);
        note(row, from === undefined ? undefined : at - from);
      }
      if (event.type !== 'row') return;
      const step = event.event;
      if (step.type === 'submitting' && !begun.has(event.id)) begun.set(event.id, at);
      if (step.type !== 'settled' || step.outcome.status !== 'completed') return;
      note(queue, step.outcome.delayTimeMs);
      note(execution, step.outcome.executionTimeMs);
    },
    figures: (summary, at) => ({
      summary: last?.summary ?? summary,
      progress: progress.view(at),
      ...{ queue, execution, row },
      ...(last && { exitCode: last.exitCode }),
    }),
  };
}

/** A histogram as Prometheus has it: `counts` are cumulative, one for each upper bound. */
export interface Histogram {
  add(value: number): void;
  readonly bounds: readonly number[];
  /** One for each bound. */
  readonly counts: readonly number[];
  readonly count: number;
  readonly sum: number;
}

/** An empty histogram with these upper bounds, in ascending order. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const counts = bounds.map(() => 0);
  let [count, sum] = [0, 0];
  return {
    bounds,
    counts,
    add(value) {
      count += 1;
      sum += value;
      for (const [place, bound] of bounds.entries())
        if (value <= bound) counts[place] = (counts[place] ?? 0) + 1;
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
  };
}
