import type { RunEvent, Summary } from '../../batch/internal.js';
import { foldProgress } from './fold-progress.js';
import type { Figures, Histogram } from './metrics-text.js';

/** From a tenth of a second to an hour. */
const seconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

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
  const warnings = new Map<string, number>();
  let last: Extract<RunEvent, { type: 'finished' }> | undefined;
  const note = (histogram: Pick<typeof row, 'add'>, ms: number | undefined) => {
    if (ms !== undefined) histogram.add(ms / 1000);
  };
  return {
    take(event, at) {
      progress.take(event, at);
      if (event.type === 'finished') last = event;
      if (event.type === 'warning') warnings.set(event.code, (warnings.get(event.code) ?? 0) + 1);
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
      ...{ queue, execution, row, warnings },
      ...(last && { exitCode: last.exitCode }),
    }),
  };
}

/** An empty histogram with these upper bounds, in ascending order. */
export function createHistogram(bounds: readonly number[]): Histogram & { add(value: number): void } {
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
