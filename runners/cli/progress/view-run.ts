import {
  asyncScheduler,
  Subscription,
  type Observable,
  catchError,
  EMPTY,
  exhaustMap,
  filter,
  interval,
  type SchedulerLike,
  throttleTime,
  startWith,
} from 'rxjs';
import type { RunEvent } from '../../batch/internal.js';
import type { CliIo } from '../io/cli-io.js';
import { plainText } from '../messages/plain-text.js';
import { ProgressFold } from './fold-progress.js';
import { openDisplay } from './open-display.js';
import type { ProgressView } from './progress-view.js';
import { rmSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { liveStateFile, type LiveState } from '../../report/watch/live-state.js';

export interface RunView {
  look(event: RunEvent): void;
  /** Prints a warning that is not an event. */
  warn(message: string): void;
  /** Hides the display until the run has started. */
  pause(): void;
  close(): void;
}

export interface RunViewOptions {
  readonly concurrency: number;
  readonly quiet: boolean;
  /** Whether the service is the embedded emulator. @defaultValue false */
  readonly isRehearsal?: boolean;
  /** The run's folder, where a file for the live page is kept. @defaultValue none: nothing is written */
  readonly folder?: string;
  /** Asks the service for its health when the queue does not move. */
  readonly askHealth: () => Observable<string>;
}

const patience =
  ' Replies on their way are paid for and awaited. Ctrl-C again stops now, and leaves their rows in doubt.';

/** Turns the events of a run into what stderr shows: the display, and a line for each warning. */
export function viewRun(io: CliIo, options: RunViewOptions): RunView {
  const { concurrency, quiet, askHealth, isRehearsal = false, folder } = options;
  const scheduler = io.scheduler ?? asyncScheduler;
  const fold = new ProgressFold(concurrency, scheduler.now(), isRehearsal);
  const view = (at: number) => fold.view(at);
  /** Warnings that the printed plan has already shown. */
  let printed: readonly string[] = [];
  const asking = new Subscription();
  const open = () => openDisplay({ stream: io.stderr, env: io.env, quiet, scheduler, view });
  let display = open();
  let interruptions = 0;
  const noteStop = ({ exitCode, reason }: Extract<RunEvent, { type: 'stopping' }>) => {
    if (exitCode >= 128) interruptions += 1;
    const { inFlight, saving } = view(scheduler.now());
    const isWaiting = exitCode >= 128 && inFlight + saving > 0;
    const more = !isWaiting ? '' : interruptions > 1 ? ' Not waiting any longer.' : patience;
    display.note(`stopping: ${plainText(reason)}${more}`);
  };
  const start = () => {
    display = open();
    if (folder !== undefined) asking.add(keepLiveState(folder, view, scheduler));
    const note = (words: string) => void (fold.health = words);
    if (!quiet) asking.add(watchHealth({ view, ask: askHealth, note, scheduler }));
  };
  const warn = (message: string) => display.note(`warning: ${plainText(message)}`);
  return {
    warn,
    look(event) {
      if (event.type === 'started') display.close();
      fold.take(event, scheduler.now());
      if (event.type === 'started') start();
      else if (event.type === 'checked') printed = quiet ? [] : event.plan.warnings;
      else if (event.type === 'warning') {
        const isForPeople = !quiet || event.code !== 'grown';
        if (isForPeople && !printed.includes(event.message)) warn(event.message);
      } else if (event.type === 'stopping' && !quiet) noteStop(event);
    },
    pause: () => display.close(),
    close() {
      asking.unsubscribe();
      display.close();
    },
  };
}

const lookEveryMs = 5_000;
/** How long the queue has to stand still before the service is asked, in ms. */
const stillForMs = 30_000;
const askEveryMs = 60_000;

export interface HealthWatch {
  readonly view: (at: number) => ProgressView;
  /** Asks for the service's health and describes it in a few words; called at most once a minute. */
  readonly ask: () => Observable<string>;
  readonly note: (words: string) => void;
  readonly scheduler: SchedulerLike;
}

/** Asks for the service's health while jobs wait in its queue and none starts. Failed requests are ignored. */
export function watchHealth({ view, ask, note, scheduler }: HealthWatch): Subscription {
  return interval(lookEveryMs, scheduler)
    .pipe(
      filter(() => waitsInQueue(view(scheduler.now()))),
      throttleTime(askEveryMs, scheduler),
      exhaustMap(() => ask().pipe(catchError(() => EMPTY))),
    )
    .subscribe(note);
}

function waitsInQueue({ accepted, queued, working, stillMs }: ProgressView): boolean {
  return accepted + queued > 0 && working === 0 && stillMs >= stillForMs;
}

const everyMs = 1_000;

/**
 * Keeps a small file with the display's state in the run's folder, for the live page, until the returned function is called.
 * The run does not fail if it cannot be written.
 */
function keepLiveState(
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
  const { rows, others, rowsPerMinute, leftMs, cause, stopping: isStopping } = view;
  const { inFlight, sending, accepted, queued, isQueueOld, working, isWorkOld = false, saving } = view;
  const places = { inFlight, sending, accepted, queued, isQueueOld, working, isWorkOld, saving };
  const all = rows === undefined ? undefined : rows + others;
  return { at: Date.now(), rows: all, ...places, isStopping, rowsPerMinute, leftMs, cause };
}
