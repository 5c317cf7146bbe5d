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
import { ProgressFold } from './fold-progress.js';

const everyMs = 10_000;
/** Exit code if another process holds the run; that process writes the metrics file. */
const heldByAnother = 75;

export interface MetricsFileOptions {
  readonly path: string;
  /** The run's output folder. */
  readonly out: string;
  readonly concurrency: number;
  /** Called once when the file can no longer be written. The run continues. */
  readonly warn: (why: string) => void;
  /** @defaultValue the real disk */
  readonly disk?: Disk;
  /** @defaultValue asyncScheduler */
  readonly scheduler?: SchedulerLike;
}

export interface MetricsFile {
  take(event: RunEvent): void;
  /** Writes the file a last time. */
  close(): Promise<void>;
}

/**
 * Writes a file for Prometheus' textfile collector every ten seconds and at the end. It is replaced as a whole,
 * so that a scrape never reads half of one.
 *
 * @throws {UsageError} if the file cannot be written the first time
 */
export async function keepMetricsFile(options: MetricsFileOptions): Promise<MetricsFile> {
  const { path, out, concurrency, disk = nodeDisk, scheduler = asyncScheduler } = options;
  const fold = new MetricsFold(concurrency, scheduler.now());
  let [isRunning, isWarned, isOthers] = [true, false, false];
  const write = async (): Promise<void> => {
    // If a summary is just being replaced, it is read at the next interval.
    const summary = await readSummary(disk, out).catch(() => undefined);
    await replaceFile(disk, path, metricsText(fold.figures(summary, scheduler.now()), out, isRunning));
  };
  const tryToWrite = (): Promise<void> =>
    write().catch((error: unknown) => {
      if (!isWarned)
        options.warn(`${path} could not be written (${reasonOf(error)}): the metrics are no longer updated`);
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

/** The upper bounds of the histograms, from a tenth of a second to an hour. */
const seconds = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600];

/** Folds the events of a run into figures. Times in ms by one clock; memory is proportional to rows in flight. */
export class MetricsFold {
  private readonly progress: ProgressFold;
  private readonly queue = new SecondsHistogram();
  private readonly execution = new SecondsHistogram();
  private readonly row = new SecondsHistogram();
  private readonly begun = new Map<string, number>();
  private readonly warnings = new Map<string, number>();
  private last: Extract<RunEvent, { type: 'finished' }> | undefined;

  constructor(concurrency: number, startedAt: number) {
    this.progress = new ProgressFold(concurrency, startedAt);
  }

  take(event: RunEvent, at: number): void {
    const { begun, warnings } = this;
    this.progress.take(event, at);
    if (event.type === 'finished') this.last = event;
    if (event.type === 'warning') warnings.set(event.code, (warnings.get(event.code) ?? 0) + 1);
    if (event.type === 'ended') {
      const from = begun.get(event.id);
      begun.delete(event.id);
      this.row.add(from === undefined ? undefined : at - from);
    }
    if (event.type !== 'row') return;
    const step = event.event;
    if (step.type === 'submitting' && !begun.has(event.id)) begun.set(event.id, at);
    if (step.type !== 'settled' || step.outcome.status !== 'completed') return;
    this.queue.add(step.outcome.delayTimeMs);
    this.execution.add(step.outcome.executionTimeMs);
  }

  figures(summary: Summary | undefined, at: number): Figures {
    const { last, queue, execution, row, warnings } = this;
    return {
      summary: last?.summary ?? summary,
      progress: this.progress.view(at),
      queue,
      execution,
      row,
      warnings,
      exitCode: last?.exitCode,
    };
  }
}

class SecondsHistogram implements Histogram {
  readonly bounds = seconds;
  readonly counts = seconds.map(() => 0);
  count = 0;
  sum = 0;

  add(ms: number | undefined): void {
    if (ms === undefined) return;
    this.count += 1;
    this.sum += ms / 1000;
    for (const [place, bound] of seconds.entries())
      if (ms / 1000 <= bound) this.counts[place] = (this.counts[place] ?? 0) + 1;
  }
}
