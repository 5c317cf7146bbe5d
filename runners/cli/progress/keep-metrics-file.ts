import {
  asyncScheduler,
  concatMap,
  defer,
  interval,
  Subject,
  takeUntil,
  lastValueFrom,
  type SchedulerLike,
} from 'rxjs';
import { nodeDisk, replaceFile, type Disk } from '../../batch/formats.js';
import { readSummary, type RunEvent, type Summary } from '../../batch/internal.js';
import { UsageError } from '../io/usage-error.js';
import { metricsText, type Figures, type Histogram } from './metrics-text.js';
import { foldProgress } from './fold-progress.js';

const everyMs = 10_000;
/** Exit code: another process holds the run, and keeps the metrics file. */
const heldByAnother = 75;

export interface MetricsFileOptions {
  readonly path: string;
  /** The run's output folder. */
  readonly out: string;
  readonly concurrency: number;
  /** Called once when the file cannot be written any more. That does not end the run. */
  readonly warn: (why: string) => void;
  /** @defaultValue the real disk */
  readonly disk?: Disk;
  /** @defaultValue asyncScheduler */
  readonly scheduler?: SchedulerLike;
}

export interface MetricsFile {
  take(event: RunEvent): void;
  /** Writes it a last time. */
  close(): Promise<void>;
}

/**
 * Writes a file for Prometheus' textfile collector every ten seconds and at the end. It is replaced as a whole,
 * so that a scrape never reads half of one.
 *
 * @throws {UsageError} where the file cannot be written at first
 */
export async function keepMetricsFile(options: MetricsFileOptions): Promise<MetricsFile> {
  const { path, out, concurrency, disk = nodeDisk, scheduler = asyncScheduler } = options;
  const fold = foldMetrics({ concurrency, startedAt: scheduler.now() });
  let [isRunning, isWarned, isOthers] = [true, false, false];
  const write = async (): Promise<void> => {
    // A summary that is being replaced just now is read at the next interval.
    const summary = await readSummary(disk, out).catch(() => undefined);
    await replaceFile(disk, path, metricsText(fold.figures(summary, scheduler.now()), out, isRunning));
  };
  const tryToWrite = (): Promise<void> =>
    write().catch((error: unknown) => {
      if (!isWarned)
        options.warn(`${path} could not be written (${reasonOf(error)}): the metrics stand still`);
      isWarned = true;
    });
  await write().catch((error: unknown) => {
    throw new UsageError([
      `--metrics-file: "${path}" cannot be written (${reasonOf(error)}): nothing was sent`,
    ]);
  });
  const over = new Subject<void>();
  const beats = lastValueFrom(
    interval(everyMs, scheduler).pipe(
      takeUntil(over),
      concatMap(() => defer(tryToWrite)),
    ),
    { defaultValue: undefined },
  );
  return {
    take(event) {
      fold.take(event, scheduler.now());
      isOthers = event.type === 'finished' && event.exitCode === heldByAnother;
    },
    async close() {
      over.next();
      await beats;
      isRunning = false;
      if (!isOthers) await tryToWrite();
    },
  };
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}

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
