import { asyncScheduler, lastValueFrom, tap } from 'rxjs';
import { runBatch, type RunEvent } from '../../batch/run-batch.js';
import { listenForStop } from '../io/listen-for-stop.js';
import { foldProgress } from '../progress/fold-progress.js';
import { openDisplay } from '../progress/open-display.js';
import { groupFailures } from '../words/group-failures.js';
import { plainText } from '../words/plain-text.js';
import { batchOptions, type StartedRun } from './batch-options.js';
import { tellOutcome } from './tell-outcome.js';

/** Lets a run go to its end while showing where it stands, tells how it ended, and returns its exit code. */
export async function watchRun(run: StartedRun): Promise<number> {
  const { io, options } = run;
  const scheduler = io.scheduler ?? asyncScheduler;
  const fold = foldProgress({ concurrency: options.concurrency, startedAt: scheduler.now() });
  const failures = groupFailures();
  const display = openDisplay({
    stream: io.stderr,
    env: io.env,
    quiet: options.quiet,
    scheduler,
    view: fold.view,
  });
  const stop = listenForStop(io, (how) => {
    fold.noteStopping();
    if (how === 'now') display.note('stopping at once');
  });
  const look = (event: RunEvent) => {
    fold.take(event, scheduler.now());
    if (event.type === 'started') run.fault.folder = run.out;
    if (event.type === 'warning') display.note(`warning: ${plainText(event.message)}`);
    if (event.type === 'ended' && event.status !== 'completed')
      failures.take({ id: event.id, code: event.status, message: event.message });
  };
  try {
    const last = await lastValueFrom(runBatch(batchOptions(run, stop.requests$)).pipe(tap(look)));
    display.close();
    if (last.type !== 'finished') throw new Error('a run ended without saying how');
    return await tellOutcome(run, last, failures.list());
  } finally {
    display.close();
    stop.close();
  }
}
