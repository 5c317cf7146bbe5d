import { Readable } from 'node:stream';
import { concat, concatMap, defer, EMPTY, from, ignoreElements, tap, type Observable } from 'rxjs';
import { createLateClient } from '../../src/endpoints/late-client.js';
import { listenForCallbacks } from './callbacks/run-callbacks.js';
import { openJournal } from './journal/open-journal.js';
import { peekJournal } from './journal/recovered-journal.js';
import { buyRows } from './purchase/buy-rows.js';
import type { CheckAhead } from './context/resolved-options.js';
import { namedTasks } from './end/named-rows.js';
import type { RunBatchOptions } from './context/run-options.js';
import type { Run } from './context/run.js';
import type { PaidRow, Task } from './row/task.js';
import { serviceOver } from './context/run-service.js';
import { RunStream } from './context/run-event.js';
import { savePictures } from './pictures/save-pictures.js';
import { updateFiles } from './start/open-folder.js';
import { openRun } from './start/open-run.js';
import { resolveOptions } from './start/resolve-options.js';
import { startEvents } from './start/start-events.js';
import { stopCauses } from './stop/stop-causes.js';
import { Stops } from './stop/stops.js';
import { takeRows } from './tasks/take-rows.js';
import { withRun } from './start/with-run.js';

export type { RunEvent } from './context/run-event.js';
export type { RunBatchOptions, StopOrder } from './context/run-options.js';

/** The stages of a run; any of them can be replaced. */
export interface RunStages {
  /** The tasks of this start: rows that earlier starts left, then the manifest's. */
  readonly takeRows: typeof takeRows;
  /** Pulls a row for each free slot, within the budget, with every purchase journalled; ends the rows without a picture. */
  readonly buyRows: (run: Run, tasks: AsyncIterable<Task>) => Observable<PaidRow>;
  /** Saves pictures in their own pool, and ends their rows. */
  readonly savePictures: typeof savePictures;
  /** Work to do while the journal of earlier starts is read. @defaultValue nothing */
  readonly checkAhead?: CheckAhead;
  /**
   * Called before many rows or records are created as objects, to make room in memory; it may be called more than once.
   * Reading a journal creates no such objects. @defaultValue nothing
   */
  readonly beforeRows?: (() => void) | undefined;
}

/** The default stages of a run. To replace one, pass `{ ...runStages, buyRows: mine }`. */
export const runStages: RunStages = { takeRows, buyRows, savePictures };

/**
 * Runs a manifest into its output folder, or continues such a run. Nothing is paid for twice and no row is lost, even
 * if the process or the machine dies. Never errors: `finished` comes last, with an exit code and a sentence. All
 * subscribers share one run; when the last one unsubscribes, it stops gracefully.
 *
 * @example
 * ```ts
 * for await (const event of runBatch({ manifest: { path: 'edits.csv' }, out: 'edits.out', baseUrl, apiKey }))
 *   if (event.type === 'ended') console.log(event.id, event.status);
 * ```
 */
export function runBatch(options: RunBatchOptions, stages: RunStages = runStages): RunStream {
  const { takeRows, buyRows, savePictures, checkAhead, beforeRows } = stages;
  const stops = new Stops();
  const events = withRun(stops, {
    resolve: () => resolveOptions(options),
    open: (opening) =>
      openRun(opening, {
        openJournal,
        updateFiles,
        peekJournal,
        openService: serviceOver(createLateClient),
        listen: listenForCallbacks,
        ...(checkAhead && { checkAhead }),
        beforeRows,
      }),
    work: (run) => {
      const buy = (tasks: AsyncIterable<Task>) => buyRows(run, tasks).pipe(savePictures(run));
      return concat(
        from(startEvents(run)).pipe(tap((event) => run.events.next(event))),
        buy(takeRows(run)),
        goOnWithNamed(run, buy),
      ).pipe(ignoreElements());
    },
  });
  return new RunStream(events, () => stops.stop(stopCauses.interrupted('graceful', 130)));
}

/** Polls the jobs that callbacks have named meanwhile for held rows, so that these rows end in this start, too. */
function goOnWithNamed<T>(run: Run, buy: (tasks: AsyncIterable<Task>) => Observable<T>): Observable<T> {
  return defer(() => namedTasks(run)).pipe(
    concatMap((tasks) =>
      tasks.length === 0 ? EMPTY : concat(buy(Readable.from(tasks)), goOnWithNamed(run, buy)),
    ),
  );
}
