import { escapeHtml } from '../messages/escape-html.js';

/** The drawing area of every chart: drawn at the size at which it is usually seen, so that its text keeps its size. */
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
  /** The same for a place twice as wide. */
  readonly wide?: string;
  readonly legend?: readonly { readonly name: string; readonly tone: string }[];
}

/** An SVG that speaks for itself to a screen reader: its label is the chart's sentence. */
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

/** Figures under the base line; those at the rims are turned inward, so that nothing is cut off. */
export function labelUnder(x: number, text: string, area: Area = narrow): string {
  const half = text.length * 2.9;
  const anchor = x + half > area.width ? 'end' : x - half < 0 ? 'start' : 'middle';
  return `<text x="${round(anchor === 'end' ? Math.min(x, area.width) : x)}" y="${area.base + 17}" text-anchor="${anchor}">${escapeHtml(text)}</text>`;
}

/** Two digits behind the point are more than a screen shows. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
