import { scaleLinear, scaleTime } from 'd3-scale';
import type { Span } from '../survey/spans-of.js';
import { labelUnder, narrow, round, type Area } from './plot.js';

export interface TimeAxis {
  x(at: number): number;
  /** The stretches of work as they lie on the page. */
  readonly pieces: readonly (Span & { readonly x0: number; readonly x1: number })[];
  /** Labels, and a mark where time is left out between two stretches. */
  readonly svg: string;
}

/** Time at work is drawn to scale; the pauses between two starts are a narrow gap, however long they were. */
export function layTimeAxis(spans: readonly Span[], area: Area = narrow): TimeAxis {
  const gap = spans.length > 1 ? Math.min(14, ((area.to - area.from) * 0.25) / (spans.length - 1)) : 0;
  const worked = spans.reduce((sum, { from, to }) => sum + Math.max(1, to - from), 0);
  const perMs = (area.to - area.from - gap * (spans.length - 1)) / worked;
  let x0 = area.from;
  const pieces = spans.map(({ from, to }) => {
    const piece = { from, to: Math.max(to, from + 1), x0, x1: x0 + Math.max(1, to - from) * perMs };
    x0 = piece.x1 + gap;
    return piece;
  });
  const scale = scaleLinear(
    pieces.flatMap(({ from, to }) => [from, to]),
    pieces.flatMap((piece) => [piece.x0, piece.x1]),
  ).clamp(true);
  const breaks = pieces.slice(1).map((piece, index) => breakMark(pieces[index] ?? piece, piece, area));
  return { x: (at) => round(scale(at)), pieces, svg: [...labels(pieces, area), ...breaks].join('') };
}

/** The beginning of each stretch, and round times after it as far as there is room. No time is told twice. */
function labels(pieces: TimeAxis['pieces'], area: Area): string[] {
  let free = -Infinity;
  let told = '';
  return pieces.flatMap((piece) => {
    const scale = scaleTime([new Date(piece.from), new Date(piece.to)], [piece.x0, piece.x1]);
    const ticks = scale
      .ticks(Math.max(2, Math.floor((piece.x1 - piece.x0) / 75)))
      .filter((tick) => tick.getMilliseconds() === 0);
    const inSeconds = ticks.length === 0 || ticks.some((tick) => tick.getSeconds() > 0);
    return [startOf(piece.from, inSeconds), ...ticks].flatMap((at) => {
      const [x, text] = [Math.max(scale(at), piece.x0), clock(at, inSeconds)];
      if (text === told || x < free || x > area.to - 12) return [];
      told = text;
      free = x + (inSeconds ? 66 : 54);
      return labelUnder(x, text, area);
    });
  });
}

/** The second or the minute that had begun. */
function startOf(at: number, inSeconds: boolean): Date {
  return new Date(at - (at % (inSeconds ? 1000 : 60_000)));
}

/** Two short strokes, and how long the pause was for whoever points at them. */
function breakMark(before: Span & { x1: number }, after: Span & { x0: number }, { base }: Area): string {
  const x = round((before.x1 + after.x0) / 2);
  const title = `<title>nothing ran from ${dated(before.to)} to ${dated(after.from)}</title>`;
  const stroke = (at: number): string => `<path d="M${round(at - 2)} ${base + 5}l4 -10"/>`;
  return `<g class="break">${title}<rect x="${round(x - 3.5)}" y="${base - 5}" width="7" height="10"/>${stroke(x - 2.5)}${stroke(x + 2.5)}</g>`;
}

function clock(at: Date, seconds: boolean): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return seconds ? `${time}:${two(at.getSeconds())}` : time;
}

function dated(at: number): string {
  return new Date(at).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  });
}

/** As many equal bins as fit, laid over the stretches of work by their length. */
export function timeBins(
  axis: TimeAxis,
  count: number,
): { from: number; to: number; x: number; width: number }[] {
  const drawn = axis.pieces.reduce((sum, { x0, x1 }) => sum + x1 - x0, 0);
  return axis.pieces.flatMap(({ from, to, x0, x1 }) => {
    const bins = Math.max(1, Math.round((count * (x1 - x0)) / drawn));
    return Array.from({ length: bins }, (_, index) => ({
      from: from + ((to - from) * index) / bins,
      to: from + ((to - from) * (index + 1)) / bins,
      x: x0 + ((x1 - x0) * index) / bins,
      width: (x1 - x0) / bins,
    }));
  });
}
