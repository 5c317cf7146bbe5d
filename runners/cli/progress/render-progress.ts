import { countOf, formatCount, formatDuration, formatMoney, listed } from '../messages/plain-text.js';
import type { ProgressView } from './progress-view.js';
import picocolors from 'picocolors';
import type { CliIo, OutStream } from '../io/cli-io.js';
import { wrapLines } from '../io/wrap-lines.js';

/** The width of the terminal, and what it can show. */
export interface Paper {
  readonly columns: number;
  readonly colors: Colors;
  /** Whether it can draw a bar of box characters. */
  readonly unicode: boolean;
}

/** A part of a line and its colour. Its width is that of `text`. */
interface Segment {
  readonly text: string;
  readonly paint?: (text: string) => string;
}

/** The lines of the display, none wider than the terminal. */
export function renderProgress(view: ProgressView, paper: Paper): string[] {
  const width = Math.max(10, paper.columns - 1);
  return [
    renderHead(view, width, paper),
    ...flow(countSegments(view, paper.colors), width, paper),
    ...flow(rateSegments(view), width, paper),
    ...renderCause(view, width, paper),
  ];
}

function renderHead(view: ProgressView, width: number, paper: Paper): string {
  const done = doneOf(view);
  if (view.rows === undefined) return cut('reading the manifest', width);
  const share = view.rows === 0 ? 1 : done / view.rows;
  const counts = `${formatCount(done)} of ${countOf(view.rows, 'row')}`;
  const percent = `${Math.floor(share * 100)} %`.padStart(5);
  const room = Math.min(40, width - counts.length - percent.length - 3);
  if (room < 5) return cut(`${counts} ${percent.trim()}`, width);
  return `${counts}  ${drawBar(share, room, paper)} ${percent}`;
}

function drawBar(share: number, width: number, { colors, unicode }: Paper): string {
  const full = Math.min(width, Math.floor(share * width));
  const [done, open] = unicode ? ['━', '─'] : ['#', '-'];
  return colors.green(done.repeat(full)) + colors.dim(open.repeat(width - full));
}

function countSegments(view: ProgressView, colors: Colors): Segment[] {
  const phases = listed([
    view.queued > 0 && `${view.queued} ${view.isQueueOld ? 'last seen queued' : 'queued'}`,
    view.working > 0 && `${view.working} ${view.isWorkOld === true ? 'last seen working' : 'working'}`,
    view.accepted > 0 && `${view.accepted} queued or working`,
  ]);
  return [
    { text: `${formatCount(view.completed)} completed`, paint: colors.green },
    { text: `${formatCount(view.failed)} failed`, ...(view.failed > 0 && { paint: colors.red }) },
    ...(view.undownloaded > 0 ? [{ text: `${formatCount(view.undownloaded)} not downloaded` }] : []),
    ...(view.unknown > 0 ? [{ text: `${formatCount(view.unknown)} in doubt`, paint: colors.yellow }] : []),
    { text: `${view.inFlight} in flight${phases === '' ? '' : ` (${phases})`}` },
    ...(view.saving > 0 ? [{ text: `${formatCount(view.saving)} being saved` }] : []),
    ...(view.endedBefore > 0 ? [{ text: `${formatCount(view.endedBefore)} done before` }] : []),
  ];
}

function spentWords({ money, isRehearsal = false }: ProgressView): string {
  if (isRehearsal) return 'rehearsal, nothing spent';
  const spent = formatMoney(money.spent);
  return money.cap === undefined ? `${spent} spent` : `${spent} of ${formatMoney(money.cap)} spent`;
}

function rateSegments(view: ProgressView): Segment[] {
  const { rowsPerMinute, leftMs, money } = view;
  return [
    ...(rowsPerMinute === undefined
      ? []
      : [
          {
            text: `${formatCount(rowsPerMinute < 10 ? Math.round(rowsPerMinute * 10) / 10 : rowsPerMinute)} rows/min`,
          },
        ]),
    ...(leftMs === undefined ? [] : [{ text: `${formatDuration(leftMs)} left` }]),
    { text: spentWords(view) },
    ...(money.unknown > 0 && view.isRehearsal !== true
      ? [{ text: `${formatMoney(money.unknown)} in doubt` }]
      : []),
    {
      text: `concurrency ${view.inFlight > view.concurrency ? 'lowered to ' : ''}${view.concurrency}`,
    },
  ];
}

function renderCause(view: ProgressView, width: number, { colors }: Paper): string[] {
  const cause = view.stopping ? 'stopping: waiting for what is in flight' : view.cause;
  if (cause === undefined) return [];
  return wrapLines(cause, width)
    .split('\n')
    .map((line) => colors.yellow(cut(line, width)));
}

/** Puts segments side by side, and begins a new line when one does not fit. */
function flow(segments: readonly Segment[], width: number, { unicode }: Paper): string[] {
  const glue = unicode ? ' · ' : ' | ';
  const lines: { text: string; width: number }[] = [];
  for (const segment of segments) {
    const text = cut(segment.text, width);
    const painted = segment.paint?.(text) ?? text;
    const last = lines.at(-1);
    if (last === undefined || last.width + glue.length + text.length > width) {
      lines.push({ text: painted, width: text.length });
    } else {
      last.text += glue + painted;
      last.width += glue.length + text.length;
    }
  }
  return lines.map((line) => line.text);
}

function cut(text: string, width: number): string {
  return text.length > width ? text.slice(0, width) : text;
}

function doneOf({ endedBefore, completed, failed, unknown, undownloaded }: ProgressView): number {
  return endedBefore + completed + failed + unknown + undownloaded;
}

/** The display as one plain line, for logs and mails: no control characters, nothing redrawn. */
export function progressLine(view: ProgressView): string {
  if (view.rows === undefined) return 'reading the manifest';
  const done = doneOf(view);
  const rows = `${formatCount(done)} of ${countOf(Math.max(view.rows, done), 'row')}`;
  const counts = [
    `${formatCount(view.completed)} completed`,
    view.failed > 0 && `${formatCount(view.failed)} failed`,
    view.undownloaded > 0 && `${formatCount(view.undownloaded)} not downloaded`,
    view.unknown > 0 && `${formatCount(view.unknown)} in doubt`,
    `${view.inFlight} in flight`,
    view.endedBefore > 0 && `${formatCount(view.endedBefore)} done before`,
  ];
  const rate = [
    view.rowsPerMinute !== undefined && `${formatCount(view.rowsPerMinute)} rows a minute`,
    view.leftMs !== undefined && `${formatDuration(view.leftMs)} left`,
  ];
  const parts = [
    `${rows}: ${listed(counts)}`,
    listed(rate),
    spentWords(view),
    view.stopping ? 'stopping' : (view.cause ?? ''),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

/** The colours of millrace; without colour, each returns its text unchanged. */
export type Colors = Pick<
  ReturnType<typeof picocolors.createColors>,
  'bold' | 'dim' | 'green' | 'red' | 'yellow'
>;

/** Colours for a stream: only on a terminal that can show them, and never with NO_COLOR (no-color.org). */
export function pickColors(stream: Pick<OutStream, 'isTTY'>, env: CliIo['env']): Colors {
  const wanted = (env['NO_COLOR'] ?? '') === '' && stream.isTTY === true && env['TERM'] !== 'dumb';
  return picocolors.createColors(wanted);
}
