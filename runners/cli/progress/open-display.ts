import { interval, type SchedulerLike } from 'rxjs';
import type { CliIo, OutStream } from '../io/cli-io.js';
import { columnsOf, widthOf, wrapLines } from '../io/wrap-lines.js';
import { pickColors, progressLine, renderProgress } from './render-progress.js';
import type { ProgressView } from './progress-view.js';

/** Time between two redraws, in ms. */
const redrawEveryMs = 250;
/** Time between two lines in a log, in ms. */
const lineEveryMs = 30_000;

/** The display of a run's progress. */
export interface Display {
  /** Prints a line that stays, above the redrawn ones. */
  note(text: string): void;
  /** Removes the display from the terminal, or writes a log's last line. Called once; notes can still follow. */
  close(): void;
}

export interface DisplayOptions {
  readonly stream: OutStream;
  readonly env: CliIo['env'];
  readonly quiet: boolean;
  readonly scheduler: SchedulerLike;
  readonly view: (at: number) => ProgressView;
}

/** Opens a display: a few redrawn lines on a terminal, a plain line every 30 s elsewhere; with `--quiet` only notes. */
export function openDisplay(options: DisplayOptions): Display {
  if (options.quiet) return quietDisplay(options.stream);
  const onTerminal = options.stream.isTTY === true && options.env['TERM'] !== 'dumb';
  return onTerminal ? liveDisplay(options) : plainDisplay(options);
}

function quietDisplay(stream: OutStream): Display {
  return { note: (text) => void stream.write(`${text}\n`), close: () => undefined };
}

function plainDisplay({ stream, scheduler, view }: DisplayOptions): Display {
  const write = () => void stream.write(`${progressLine(view(scheduler.now()))}\n`);
  const ticking = interval(lineEveryMs, scheduler).subscribe(write);
  return {
    note: (text) => void stream.write(`${text}\n`),
    close() {
      if (ticking.closed) return;
      ticking.unsubscribe();
      if (view(scheduler.now()).rows !== undefined) write();
    },
  };
}

function liveDisplay({ stream, env, scheduler, view }: DisplayOptions): Display {
  const colors = pickColors(stream, env);
  const unicode = canDrawBoxes(env);
  let drawn: readonly string[] = [];
  const columns = () => columnsOf(stream);
  const rewrite = (lines: readonly string[], above = '') => {
    const up = drawn.reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / columns())), 0);
    const back = up === 0 ? '\r' : `\r\u001b[${up}A`;
    stream.write(`${back}${above}${lines.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`);
    drawn = lines;
  };
  const draw = () => {
    const lines = renderProgress(view(scheduler.now()), { columns: columns(), colors, unicode });
    if (lines.length !== drawn.length || lines.some((line, index) => line !== drawn[index])) rewrite(lines);
  };
  stream.on('resize', draw);
  const ticking = interval(redrawEveryMs, scheduler).subscribe(draw);
  draw();
  return {
    note: (text) => rewrite(drawn, `${wrapLines(text, columns()).replaceAll('\n', '\u001b[K\n')}\u001b[K\n`),
    close() {
      if (ticking.closed) return;
      ticking.unsubscribe();
      stream.off('resize', draw);
      rewrite([]);
    },
  };
}

function canDrawBoxes(env: CliIo['env']): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  return locale === undefined ? env['TERM'] !== 'linux' : /utf-?8/i.test(locale);
}
