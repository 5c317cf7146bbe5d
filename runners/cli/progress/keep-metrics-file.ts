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
import { readSummary, type RunEvent } from '../../batch/internal.js';
import { UsageError } from '../io/usage-error.js';
import { foldMetrics } from './fold-metrics.js';
import { metricsText } from './metrics-text.js';

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
