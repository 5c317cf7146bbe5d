import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { costChart } from '../../../../runners/report/charts/cost-chart.js';
import { outcomesChart } from '../../../../runners/report/charts/outcomes-chart.js';
import { type Chart, layTimeAxis, timeBins } from '../../../../runners/report/charts/plot.js';
import { spreadChart } from '../../../../runners/report/charts/spread-chart.js';
import { RowPlaces } from '../../../../runners/report/survey/row-places.js';
import { surveyRun, type Survey } from '../../../../runners/report/survey/survey-run.js';
import { makeRun } from '../../../support/make-run.js';

let survey: Survey;
beforeAll(async () => {
  const parent = await mkdtemp(join(tmpdir(), 'millrace-charts-'));
  await makeRun({ folder: join(parent, 'out'), rows: 300, pictures: false, maxCost: 40 });
  survey = await surveyRun(nodeDisk, join(parent, 'out'));
  await rm(parent, { recursive: true });
});

/** What the bars' tips say, added up. */
function reported(svg: string, word: string): number {
  const found = [...svg.matchAll(new RegExp(`([\\d,]+) ${word}`, 'g'))];
  return found.reduce((sum, [, count]) => sum + Number(count!.replaceAll(',', '')), 0);
}

/** Every number in a position lies within the drawing. */
function positions(svg: string): number[] {
  return [...svg.matchAll(/ (?:x|x1|x2|y|y1|y2|width|height)="([^"]+)"/g)].map(([, value]) => Number(value));
}

describe('outcomesChart', () => {
  it('counts every row once, narrow and wide', () => {
    const { svg, wide } = outcomesChart(survey);
    for (const drawn of [svg, wide!]) {
      expect(reported(drawn, 'completed')).toBe(287);
      expect(reported(drawn, 'failed')).toBe(10);
      expect(reported(drawn, 'not downloaded')).toBe(1);
      expect(reported(drawn, 'in doubt')).toBe(2);
    }
  });

  it('says how long the pause between two starts was', () => {
    expect(outcomesChart(survey).svg).toMatch(/nothing ran from \d+ Nov/);
  });

  it('names a pace only where one start did it all: a later one may have waited for what failed again', () => {
    const { caption } = outcomesChart(survey);
    expect(caption).toMatch(/^300 rows in .* of work\.$/);
    const starts = survey.story.starts.slice(0, 1);
    const alone = { ...survey, story: { ...survey.story, starts }, workedMs: 30 * 60_000 };
    expect(outcomesChart(alone).caption).toBe('300 rows in 30 min of work, 10 a minute.');
  });

  it('draws nothing of a single row', () => {
    const places = new RowPlaces();
    places.add(survey.rows.places.at(0));
    expect(outcomesChart({ ...survey, rows: { ...survey.rows, places } }).svg).toBe('');
  });
});

describe('costChart', () => {
  it('draws the cap where it is near, and tells it in words where it is far', () => {
    expect(costChart(survey).svg).toContain('limit $40.00');
    const far = costChart({ ...survey, cap: 4_000_000_000 });
    expect(far.svg).not.toContain('class="cap"');
    expect(far.caption).toBe('$30.24, limit $4,000.00.');
  });

  it('says so when no limit is set, and that a rehearsal spent nothing, and names what is in doubt', () => {
    expect(costChart({ ...survey, cap: undefined }).caption).toBe('$30.24, no limit set.');
    expect(costChart({ ...survey, isRehearsal: true }).caption).toMatch(/^Rehearsal, nothing spent/);
    expect(costChart(survey).legend?.map(({ name }) => name)).toEqual(['charged', 'in doubt']);
  });

  it('has a path of bounded length, however many purchases there were', () => {
    const spending = Array.from({ length: 50_000 }, (_, n) => ({
      at: survey.spans[0]!.from + n * 5,
      amount: 1000,
      source: 'reported' as const,
    }));
    expect(costChart({ ...survey, money: { ...survey.money, spending } }).svg.length).toBeLessThan(60_000);
  });
});

describe('spreadChart', () => {
  it.each([600, 1_400, 95_000, 6_000_000])('names times up to %i ms without one over another', (slowest) => {
    const { svg } = spreadChart('Time', [slowest / 10, slowest / 2, slowest]);
    const labels = [...svg.matchAll(/<text x="([\d.]+)" y="181" text-anchor="(\w+)">([^<]+)</g)];
    const spans = labels.map(([, x, anchor, text]) => {
      const width = text!.length * 6;
      return Number(x) - { start: 0, middle: width / 2, end: width }[anchor!]!;
    });
    expect(labels.length).toBeGreaterThan(2);
    for (const [at, [, , , text]] of labels.entries())
      expect(spans[at]! + text!.length * 6).toBeLessThan(spans[at + 1] ?? 401);
  });

  it('counts every duration once, and says the median and the slowest', () => {
    const durations = Array.from({ length: 100 }, (_, n) => (n + 1) * 100);
    const { svg, caption } = spreadChart('Time', durations);
    expect(reported(svg, 'of')).toBe(100);
    expect(caption).toBe('Median 5.0 s, slowest 10 s.');
  });

  it('keeps one that is far slower from flattening the others', () => {
    const { svg } = spreadChart('Time', [...Array.from({ length: 99 }, (_, n) => 1000 + n), 3_600_000]);
    expect(svg).toContain('beyond');
    expect(svg).toContain('and more');
  });

  it.each([[[]], [[5]], [[0, 0, 0]], [[7, 7]]])('takes %j', (durations) => {
    expect(positions(spreadChart('Time', durations).svg).every(Number.isFinite)).toBe(true);
  });
});

describe('layTimeAxis', () => {
  it('draws time at work to scale and leaves a narrow gap for a pause', () => {
    const axis = layTimeAxis([
      { from: 0, to: 60_000 },
      { from: 9_000_000, to: 9_120_000 },
    ]);
    const [first, second] = axis.stretches;
    expect((second!.x1 - second!.x0) / (first!.x1 - first!.x0)).toBeCloseTo(2);
    expect(second!.x0 - first!.x1).toBe(14);
    expect(axis.x(4_000_000)).toBeGreaterThanOrEqual(first!.x1);
    expect(axis.x(4_000_000)).toBeLessThanOrEqual(second!.x0);
  });

  it('never says the same time twice', () => {
    for (const span of [40_000, 170_000, 400_000, 7_200_000, 90_000_000]) {
      const labels = [
        ...layTimeAxis([{ from: 1_700_000_012_000, to: 1_700_000_012_000 + span }]).svg.matchAll(
          />([\d:]+)</g,
        ),
      ].map(([, text]) => text);
      expect(labels.length).toBeGreaterThan(1);
      expect(new Set(labels).size).toBe(labels.length);
    }
  });

  it('has room for a run of a hundred starts', () => {
    const spans = Array.from({ length: 100 }, (_, n) => ({ from: n * 1e7, to: n * 1e7 + 1000 }));
    const axis = layTimeAxis(spans);
    expect(axis.stretches.every(({ x0, x1 }) => x1 > x0)).toBe(true);
    expect(timeBins(axis, 50).length).toBeGreaterThanOrEqual(100);
  });
});

it('every chart is labelled by its caption and lies within its frame', () => {
  const charts: Chart[] = [outcomesChart(survey), costChart(survey), spreadChart('Q', survey.rows.delays)];
  for (const { svg, caption } of charts) {
    expect(svg).toContain(`role="img" aria-label="${caption.replaceAll("'", '&#39;')}"`);
    expect(positions(svg).every((value) => value >= -2 && value <= 400)).toBe(true);
  }
});
