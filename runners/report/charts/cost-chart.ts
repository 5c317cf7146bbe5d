import { scaleLinear } from 'd3-scale';
import { area, curveStepAfter, line } from 'd3-shape';
import { allOf } from '../survey/sum-money.js';
import type { Survey } from '../survey/survey-run.js';
import { formatMoney } from '../../../src/contract/micro-dollars.js';
import { formatTotal } from '../messages/format-amounts.js';
import { escapeHtml } from '../messages/escape-html.js';
import { drawPlot, narrow, round, valueAxis, type Chart, layTimeAxis } from './plot.js';

interface Point {
  readonly x: number;
  readonly spent: number;
  readonly unknown: number;
}

/** A cap this many times the cost is described in words: drawn to scale it would flatten the cost. */
const farAbove = 3;

/** Money over time: spent, possibly spent on top of it, and the cap. */
export function costChart(survey: Survey): Chart {
  const title = 'Cost';
  const { money, cap } = survey;
  const total = allOf(money.total);
  if (money.spending.length < 2 || survey.spans.length === 0)
    return { title, caption: costWords(survey), svg: '' };
  const axis = layTimeAxis(survey.spans);
  const points = thinned(pointsOf(survey, (at) => axis.x(at)));
  const shownCap = cap !== undefined && cap <= total * farAbove ? cap : undefined;
  const y = scaleLinear([0, Math.max(total, shownCap ?? 0) * 1.04], [narrow.base, narrow.top]);
  const steps = line<Point>(
    ({ x }) => x,
    ({ spent }) => round(y(spent)),
  ).curve(curveStepAfter);
  const fill = area<Point>(
    ({ x }) => x,
    narrow.base,
    ({ spent }) => round(y(spent)),
  ).curve(curveStepAfter);
  const unknown = area<Point>(
    ({ x }) => x,
    ({ spent }) => round(y(spent)),
    ({ spent, unknown }) => round(y(spent + unknown)),
  ).curve(curveStepAfter);
  const hasUnknown = money.total.unknown > 0;
  const caption = costWords(survey);
  const content = [
    valueAxis(y.ticks(4), y, tickWords(y.ticks(4))),
    `<path class="area" d="${fill(points) ?? ''}"/>`,
    hasUnknown ? `<path class="doubt" d="${unknown(points) ?? ''}"/>` : '',
    `<path class="line" d="${steps(points) ?? ''}"/>`,
    shownCap === undefined ? '' : drawCap(shownCap, y(shownCap)),
    axis.svg,
  ];
  return {
    title,
    caption,
    svg: drawPlot(caption, content),
    ...(hasUnknown
      ? {
          legend: [
            { name: 'charged', tone: 'line' },
            { name: 'in doubt', tone: 'held' },
          ],
        }
      : {}),
  };
}

function costWords({ money, cap, isRehearsal }: Survey): string {
  const spent = formatTotal(money.total.reported + money.total.estimated);
  const limit = cap === undefined ? 'no limit set' : `limit ${formatMoney(cap)}`;
  return `${isRehearsal ? 'Rehearsal, nothing spent; a real run: ' : ''}${spent}, ${limit}.`;
}

function* pointsOf({ money, spans }: Survey, x: (at: number) => number): Generator<Point, void, void> {
  let spent = 0;
  let unknown = 0;
  yield { x: x(spans[0]?.from ?? 0), spent, unknown };
  for (const { at, amount, source } of money.spending) {
    if (source === 'unknown') unknown += amount;
    else spent += amount;
    yield { x: x(at), spent, unknown };
  }
  yield { x: x(spans.at(-1)?.to ?? 0), spent, unknown };
}

/** The last point of each unit of width; more could not be seen. */
function thinned(points: Iterable<Point>): Point[] {
  const kept: Point[] = [];
  for (const point of points) {
    const before = kept.at(-1);
    const isNear = before !== undefined && Math.floor(before.x) === Math.floor(point.x);
    kept[isNear ? kept.length - 1 : kept.length] = point;
  }
  return kept;
}

function drawCap(cap: number, at: number): string {
  const y = round(at);
  return `<line class="cap" x1="${narrow.from}" x2="${narrow.to}" y1="${y}" y2="${y}"/><text class="cap-label" x="${narrow.to}" y="${y - 4}" text-anchor="end">${escapeHtml(`limit ${formatMoney(cap)}`)}</text>`;
}

/** Cents only when the ticks need them. */
function tickWords(ticks: readonly number[]): (value: number) => string {
  const whole = ticks.every((tick) => tick % 1e6 === 0);
  return (value) => (whole ? `$${(value / 1e6).toLocaleString('en-US')}` : formatMoney(value));
}
