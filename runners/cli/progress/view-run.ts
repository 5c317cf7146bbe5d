import { asyncScheduler, Subscription, type Observable } from 'rxjs';
import type { RunEvent } from '../../batch/internal.js';
import type { CliIo } from '../io/cli-io.js';
import { plainText } from '../messages/plain-text.js';
import { foldProgress } from './fold-progress.js';
import { openDisplay } from './open-display.js';
import { keepLiveState } from './keep-live-state.js';
import { watchHealth } from './watch-health.js';

/** A run as a person sees it while it goes. */
export interface RunView {
  look(event: RunEvent): void;
  /** Prints a warning that no event carries. */
  warn(message: string): void;
  /** Takes the display away until the run has started. */
  pause(): void;
  close(): void;
}

export interface RunViewOptions {
  readonly concurrency: number;
  readonly quiet: boolean;
  /** The service is the embedded emulator. @defaultValue false */
  readonly isRehearsal?: boolean;
  /** The run's folder, for pages that watch it. @defaultValue none: nothing is written */
  readonly folder?: string;
  /** Asks the service for its health when its queue does not move. */
  readonly askHealth: () => Observable<string>;
}

const patience =
  ' Replies on their way are paid for and awaited. Ctrl-C again stops now, and leaves their rows in doubt.';

/** Turns the events of a run into what stderr shows: the display, and a line for each warning. */
export function viewRun(io: CliIo, options: RunViewOptions): RunView {
  const { concurrency, quiet, askHealth, isRehearsal = false, folder } = options;
  const scheduler = io.scheduler ?? asyncScheduler;
  const fold = foldProgress({ concurrency, startedAt: scheduler.now(), isRehearsal });
  /** Warnings that the printed plan has already shown. */
  let printed: readonly string[] = [];
  const asking = new Subscription();
  const open = () => openDisplay({ stream: io.stderr, env: io.env, quiet, scheduler, view: fold.view });
  let display = open();
  let interruptions = 0;
  const noteStop = ({ exitCode, reason }: Extract<RunEvent, { type: 'stopping' }>) => {
    if (exitCode >= 128) interruptions += 1;
    const more = exitCode < 128 ? '' : interruptions > 1 ? ' Not waiting any longer.' : patience;
    display.note(`stopping: ${plainText(reason)}${more}`);
  };
  const start = () => {
    display = open();
    if (folder !== undefined) asking.add(keepLiveState(folder, fold.view, scheduler));
    if (!quiet)
      asking.add(watchHealth({ view: fold.view, ask: askHealth, note: fold.noteHealth, scheduler }));
  };
  const warn = (message: string) => display.note(`warning: ${plainText(message)}`);
  return {
    warn,
    look(event) {
      if (event.type === 'started') display.close();
      fold.take(event, scheduler.now());
      if (event.type === 'started') start();
      else if (event.type === 'checked') printed = quiet ? [] : event.plan.warnings;
      else if (event.type === 'warning' && !printed.includes(event.message)) warn(event.message);
      else if (event.type === 'stopping' && !quiet) noteStop(event);
    },
    pause: () => display.close(),
    close() {
      asking.unsubscribe();
      display.close();
    },
  };
}
