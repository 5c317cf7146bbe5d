import { rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exhaustMap, startWith, interval, type SchedulerLike } from 'rxjs';
import { liveStateFile, type LiveState } from '../../report/watch/live-state.js';
import type { ProgressView } from './progress-view.js';

const everyMs = 1_000;

/**
 * Keeps a small file in the run's folder with what the display knows, for the live page, until the returned function is
 * called. Nothing relies on it: a disk that refuses it is no fault of the run.
 */
export function keepLiveState(
  folder: string,
  view: (at: number) => ProgressView,
  scheduler: SchedulerLike,
): () => void {
  const path = join(folder, liveStateFile);
  let isOver = false;
  const remove = (): void => rmSync(path, { force: true });
  const write = async (): Promise<void> => {
    try {
      await writeFile(`${path}.tmp`, JSON.stringify(liveState(view(scheduler.now()))));
      await rename(`${path}.tmp`, path);
    } catch {
      rmSync(`${path}.tmp`, { force: true });
    }
    if (isOver) remove();
  };
  const writing = interval(everyMs, scheduler).pipe(startWith(0), exhaustMap(write)).subscribe();
  return () => {
    isOver = true;
    writing.unsubscribe();
    remove();
  };
}

function liveState(view: ProgressView): LiveState {
  const { rows, inFlight, queued, working, saving, rowsPerMinute, leftMs, cause, stopping } = view;
  return {
    at: Date.now(),
    ...(rows !== undefined && { rows }),
    ...{ inFlight, queued, working, saving, isStopping: stopping },
    ...(rowsPerMinute !== undefined && { rowsPerMinute }),
    ...(leftMs !== undefined && { leftMs }),
    ...(cause !== undefined && { cause }),
  };
}
