import { scaleLinear, scaleTime } from 'd3-scale';
import type { Span } from '../survey/run-story.js';
import { escapeHtml } from '../messages/escape-html.js';

export interface TimeAxis {
  x(at: number): number;
  /** The stretches of work, placed on the chart. */
  readonly stretches: readonly (Span & { readonly x0: number; readonly x1: number })[];
  /** Labels, and a mark at each pause between two stretches. */
  readonly svg: string;
}

/** Time at work is drawn to scale; a pause between two starts is a narrow gap, however long it was. */
export function layTimeAxis(spans: readonly Span[], area: Area = narrow): TimeAxis {
  const gap = spans.length > 1 ? Math.min(14, ((area.to - area.from) * 0.25) / (spans.length - 1)) : 0;
  const worked = spans.reduce((sum, { from, to }) => sum + Math.max(1, to - from), 0);
  const perMs = (area.to - area.from - gap * (spans.length - 1)) / worked;
  let x0 = area.from;
  const stretches = spans.map(({ from, to }) => {
    const stretch = { from, to: Math.max(to, from + 1), x0, x1: x0 + Math.max(1, to - from) * perMs };
    x0 = stretch.x1 + gap;
    return stretch;
  });
  const scale = scaleLinear(
    stretches.flatMap(({ from, to }) => [from, to]),
    stretches.flatMap((stretch) => [stretch.x0, stretch.x1]),
  ).clamp(true);
  const breaks = stretches
    .slice(1)
    .map((stretch, index) => breakSign(stretches[index] ?? stretch, stretch, area));
  return { x: (at) => round(scale(at)), stretches, svg: [...labels(stretches, area), ...breaks].join('') };
}

/** The beginning of each stretch, and round times after it as far as there is room, each time only once. */
function labels(stretches: TimeAxis['stretches'], area: Area): string[] {
  let free = -Infinity;
  let shown = '';
  return stretches.flatMap((stretch) => {
    const scale = scaleTime([new Date(stretch.from), new Date(stretch.to)], [stretch.x0, stretch.x1]);
    const ticks = scale
      .ticks(Math.max(2, Math.floor((stretch.x1 - stretch.x0) / 75)))
      .filter((tick) => tick.getMilliseconds() === 0);
    const inSeconds = ticks.length === 0 || ticks.some((tick) => tick.getSeconds() > 0);
    return [startOf(stretch.from, inSeconds), ...ticks].flatMap((at) => {
      const [x, text] = [Math.max(scale(at), stretch.x0), clock(at, inSeconds)];
      if (text === shown || x < free || x > area.to - 12) return [];
      shown = text;
      free = x + (inSeconds ? 66 : 54);
      return labelUnder(x, text, area);
    });
  });
}

/** The second or minute that had begun then. */
function startOf(at: number, inSeconds: boolean): Date {
  return new Date(at - (at % (inSeconds ? 1000 : 60_000)));
}

/** Two short strokes, with the length of the pause as a tooltip. */
function breakSign(before: Span & { x1: number }, after: Span & { x0: number }, { base }: Area): string {
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
  const drawn = axis.stretches.reduce((sum, { x0, x1 }) => sum + x1 - x0, 0);
  return axis.stretches.flatMap(({ from, to, x0, x1 }) => {
    const bins = Math.max(1, Math.round((count * (x1 - x0)) / drawn));
    return Array.from({ length: bins }, (_, index) => ({
      from: from + ((to - from) * index) / bins,
      to: from + ((to - from) * (index + 1)) / bins,
      x: x0 + ((x1 - x0) * index) / bins,
      width: (x1 - x0) / bins,
    }));
  });
}

/** The drawing area of every chart. It is drawn at its usual display size, so that its text keeps its size. */
export interface Area {
  readonly width: number;
  readonly height: number;
  readonly from: number;
  readonly to: number;
  readonly top: number;
  readonly base: number;
}

export const narrow = areaOf(400);
/** Two columns and the space between them. */
export const wide = areaOf(840);

function areaOf(width: number): Area {
  return { width, height: 190, from: 44, to: width - 10, top: 14, base: 164 };
}

export interface Chart {
  readonly title: string;
  /** What the chart shows, as a sentence. */
  readonly caption: string;
  /** Markup; empty when there is nothing to draw. */
  readonly svg: string;
  /** The markup for a place twice as wide. */
  readonly wide?: string;
  readonly legend?: readonly { readonly name: string; readonly tone: string }[];
}

/** An SVG whose label for screen readers is the chart's sentence. */
export function drawPlot(label: string, content: readonly string[], area: Area = narrow): string {
  return `<svg viewBox="0 0 ${area.width} ${area.height}" role="img" aria-label="${escapeHtml(label)}">${content.join('')}</svg>`;
}

/** Horizontal hairlines with their figures on the left. */
export function valueAxis(
  ticks: readonly number[],
  y: (value: number) => number,
  format: (value: number) => string,
  area: Area = narrow,
): string {
  return ticks
    .map((tick) => {
      const at = round(y(tick));
      const line = `<line class="${tick === 0 ? 'base' : 'grid'}" x1="${area.from}" x2="${area.to}" y1="${at}" y2="${at}"/>`;
      return `${line}<text x="${area.from - 7}" y="${at + 3.5}" text-anchor="end">${escapeHtml(format(tick))}</text>`;
    })
    .join('');
}

/** A figure below the base line; at an edge it is shifted inward, so that nothing of it is cut off. */
function labelUnder(x: number, text: string, area: Area): string {
  const half = halfOf(text);
  const [at, anchor] =
    x + half > area.width ? [area.width, 'end'] : x - half < 0 ? [x, 'start'] : [x, 'middle'];
  return `<text x="${round(at)}" y="${area.base + 17}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

/** Figures below the base line from left to right, without those for which there is no room beside the one before. */
export function labelsUnder(labels: readonly { readonly x: number; readonly text: string }[]): string {
  let free = -Infinity;
  return labels
    .map(({ x, text }) => {
      const half = halfOf(text);
      const middle = Math.min(x, narrow.width - half);
      if (middle - half < free) return '';
      free = middle + half + spaceBetween;
      return labelUnder(x, text, narrow);
    })
    .join('');
}

/** Half the width of a figure at the size of charts. */
function halfOf(text: string): number {
  return text.length * 3.1;
}

const spaceBetween = 6;

/** More than two digits after the point cannot be seen. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
