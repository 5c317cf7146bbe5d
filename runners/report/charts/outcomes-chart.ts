import { scaleLinear } from 'd3-scale';
import type { RowSurvey } from '../survey/survey-rows.js';
import type { Survey } from '../survey/survey-run.js';
import { countOf, formatCount, formatSpan } from '../messages/format-amounts.js';
import { toneOf, toneNames, type Tone } from '../messages/status-label.js';
import {
  drawPlot,
  narrow,
  round,
  valueAxis,
  wide,
  type Area,
  type Chart,
  layTimeAxis,
  timeBins,
} from './plot.js';

const tones = ['completed', 'paid', 'failed', 'held'] as const satisfies readonly Tone[];
type Tally = Record<Tone, number>;

/** How many rows ended when, stacked by how they ended. */
export function outcomesChart(survey: Survey): Chart {
  const title = 'Results over time';
  const ends = emptyTally();
  eachEnd(survey.rows, (_, tone) => ends[tone]++);
  const ended = totalOf(ends);
  if (ended < 2) return { title, caption: '', svg: '' };
  // A later start may only have retried failures, so its time does not show the rate.
  const isOneStart = survey.story.starts.length === 1 && survey.workedMs > 0;
  const perMinute = isOneStart ? ended / (survey.workedMs / 60_000) : 0;
  const rate = perMinute >= 1 ? `, ${formatCount(perMinute)} a minute` : '';
  const caption = `${countOf(ended, 'row')} in ${formatSpan(survey.workedMs)} of work${rate}.`;
  // Bars of fewer than four rows would show only noise.
  const most = Math.max(8, Math.ceil(ended / 4));
  return {
    title,
    caption,
    svg: drawBars(survey, caption, narrow, Math.min(56, most)),
    wide: drawBars(survey, caption, wide, Math.min(120, most)),
    legend: tones.filter((tone) => ends[tone] > 0).map((tone) => ({ name: toneNames[tone], tone })),
  };
}

function drawBars(survey: Survey, caption: string, area: Area, count: number): string {
  const axis = layTimeAxis(survey.spans, area);
  const bins = timeBins(axis, count).map((bin) => ({ ...bin, tally: emptyTally() }));
  let at = 0;
  eachEnd(survey.rows, (end, tone) => {
    while (at > 0 && end <= (bins[at - 1]?.to ?? -Infinity)) at--;
    while (at < bins.length - 1 && end > (bins[at]?.to ?? Infinity)) at++;
    const bin = bins[at];
    if (bin !== undefined) bin.tally[tone]++;
  });
  const most = Math.max(1, ...bins.map(({ tally }) => totalOf(tally)));
  const y = scaleLinear([0, most], [area.base, area.top]).nice(3);
  const ticks = y.ticks(3).filter(Number.isInteger);
  return drawPlot(
    caption,
    [valueAxis(ticks, y, formatCount, area), ...bins.map((bin) => drawBar(bin, y)), axis.svg],
    area,
  );
}

function drawBar(bin: { x: number; width: number; tally: Tally }, y: (value: number) => number): string {
  const shown = tones.filter((tone) => bin.tally[tone] > 0);
  if (shown.length === 0) return '';
  let below = 0;
  const parts = shown.map((tone) => {
    const top = y(below + bin.tally[tone]);
    const height = y(below) - top;
    below += bin.tally[tone];
    return `<rect class="${tone}" x="${round(bin.x + 0.5)}" y="${round(top)}" width="${round(Math.max(0.6, bin.width - 1))}" height="${round(height)}"/>`;
  });
  const words = shown.map((tone) => `${formatCount(bin.tally[tone])} ${toneNames[tone]}`);
  return `<g><title>${words.join(', ')}</title>${parts.join('')}</g>`;
}

function eachEnd({ places, causes }: RowSurvey, take: (at: number, tone: Tone) => void): void {
  const tonesOf = [toneOf(undefined), ...causes.map(({ code }) => toneOf(code))];
  places.eachEnd((at, cause) => {
    if (at > 0) take(at, tonesOf[cause] ?? toneOf(undefined));
  });
}

function totalOf(tally: Tally): number {
  return tones.reduce((sum, tone) => sum + tally[tone], 0);
}

function emptyTally(): Tally {
  return { completed: 0, paid: 0, failed: 0, held: 0 };
}
