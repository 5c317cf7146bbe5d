import { escapeHtml } from '../words/escape-html.js';

/** The drawing area of every chart: drawn at the size at which it is usually seen, so that its text keeps its size. */
export const plot = { width: 400, height: 190, left: 44, right: 10, top: 14, bottom: 26 } as const;

export const inner = {
  from: plot.left,
  to: plot.width - plot.right,
  top: plot.top,
  base: plot.height - plot.bottom,
} as const;

export interface Chart {
  readonly title: string;
  /** What the chart shows, as a sentence. */
  readonly caption: string;
  /** Markup; empty when there is nothing to draw. */
  readonly svg: string;
  readonly legend?: readonly { readonly name: string; readonly tone: string }[];
}

/** An SVG that speaks for itself to a screen reader: its label is the chart's sentence. */
export function drawPlot(label: string, content: readonly string[]): string {
  return `<svg viewBox="0 0 ${plot.width} ${plot.height}" role="img" aria-label="${escapeHtml(label)}">${content.join('')}</svg>`;
}

/** Horizontal hairlines with their figures on the left. */
export function valueAxis(
  ticks: readonly number[],
  y: (value: number) => number,
  format: (value: number) => string,
): string {
  return ticks
    .map((tick) => {
      const at = round(y(tick));
      const line = `<line class="${tick === 0 ? 'base' : 'grid'}" x1="${inner.from}" x2="${inner.to}" y1="${at}" y2="${at}"/>`;
      return `${line}<text x="${inner.from - 7}" y="${at + 3.5}" text-anchor="end">${escapeHtml(format(tick))}</text>`;
    })
    .join('');
}

/** Figures under the base line; those at the rims are turned inward, so that nothing is cut off. */
export function labelUnder(x: number, text: string): string {
  const half = text.length * 2.9;
  const anchor = x + half > plot.width ? 'end' : x - half < 0 ? 'start' : 'middle';
  return `<text x="${round(anchor === 'end' ? Math.min(x, plot.width) : x)}" y="${inner.base + 17}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

/** Two digits behind the point are more than a screen shows. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
