import { concat, concatMap, defer, finalize, interval, lastValueFrom, of, takeUntil, Subject } from 'rxjs';
import { writeSummary } from '../sinks/summary-file.js';
import { noteDiskFault } from './end-row.js';
import { keepPollLaw } from '../context/keep-poll-law.js';
import type { Run } from '../context/run.js';
import { summaryOf } from './summary-of.js';

const everyMs = 5_000;

/**
 * Writes summary.json at once and every few seconds while the run goes, and makes durable what the other files hold by then.
 *
 * @returns ends that; resolves when nothing is being written any more.
 */
export function keepSummary(run: Run): () => Promise<void> {
  const { options, projections } = run;
  const over = new Subject<void>();
  const write = async (): Promise<void> => {
    try {
      const covers = await projections.sync();
      await writeSummary(options.disk, options.out, summaryOf(run, covers));
      await keepPollLaw(run);
    } catch (error) {
      noteDiskFault(run, error);
    }
  };
  const beats = concat(of(0), interval(everyMs, options.scheduler)).pipe(
    takeUntil(over),
    concatMap(() => defer(write)),
    finalize(() => over.complete()),
  );
  const ended = lastValueFrom(beats, { defaultValue: undefined });
  return async () => {
    over.next();
    await ended;
  };
}
