import { scaleLinear } from 'd3-scale';
import type { Survey } from '../survey/survey-run.js';
import { countOf, formatCount, formatSpan } from '../words/amounts.js';
import { drawPlot, inner, round, valueAxis, type Chart } from './plot.js';
import { layTimeAxis, timeBins } from './time-axis.js';

const tones = ['completed', 'failed', 'held'] as const;
type Tally = Record<(typeof tones)[number], number>;

/** How many rows ended when, stacked by how they ended. */
export function outcomesChart(survey: Survey): Chart {
  const title = 'Rows as they ended';
  const { ends, causes } = survey.rows;
  if (ends.length < 2) return { title, caption: 'Too few rows ended to draw.', svg: '' };
  const axis = layTimeAxis(survey.spans);
  const bins = timeBins(axis, 56).map((bin) => ({
    ...bin,
    tally: emptyTally(),
  }));
  let at = 0;
  for (const end of ends) {
    while (at < bins.length - 1 && end.at > (bins[at]?.to ?? Infinity)) at++;
    const bin = bins[at];
    if (bin !== undefined) bin.tally[toneOf(causes[end.cause - 1]?.code)]++;
  }
  const y = scaleLinear(
    [0, Math.max(1, ...bins.map(({ tally }) => totalOf(tally)))],
    [inner.base, inner.top],
  ).nice(3);
  const perMinute = survey.workedMs > 0 ? ends.length / (survey.workedMs / 60_000) : 0;
  const caption = `${countOf(ends.length, 'row')} in ${formatSpan(survey.workedMs)} of work${perMinute >= 1 ? `, ${formatCount(perMinute)} a minute` : ''}.`;
  const bars = bins.map((bin) => drawBar(bin, y));
  const ticks = y.ticks(3).filter(Number.isInteger);
  return {
    title,
    caption,
    svg: drawPlot(caption, [valueAxis(ticks, y, formatCount), ...bars, axis.svg]),
    legend: tones
      .filter((tone) => tone === 'completed' || bins.some(({ tally }) => tally[tone] > 0))
      .map((tone) => ({ name: tone, tone })),
  };
}

function drawBar(bin: { x: number; width: number; tally: Tally }, y: (value: number) => number): string {
  let below = 0;
  const parts = tones.flatMap((tone) => {
    const count = bin.tally[tone];
    if (count === 0) return [];
    const top = y(below + count);
    const height = y(below) - top;
    below += count;
    return `<rect class="${tone}" x="${round(bin.x + 0.5)}" y="${round(top)}" width="${round(Math.max(0.6, bin.width - 1))}" height="${round(height)}"/>`;
  });
  if (parts.length === 0) return '';
  const words = tones
    .filter((tone) => bin.tally[tone] > 0)
    .map((tone) => `${formatCount(bin.tally[tone])} ${tone}`);
  return `<g><title>${words.join(', ')}</title>${parts.join('')}</g>`;
}

function toneOf(code: string | undefined): keyof Tally {
  return code === undefined ? 'completed' : code === 'unknown' ? 'held' : 'failed';
}

function totalOf(tally: Tally): number {
  return tally.completed + tally.failed + tally.held;
}

function emptyTally(): Tally {
  return { completed: 0, failed: 0, held: 0 };
}
