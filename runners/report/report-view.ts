import { basename } from 'node:path';
import type { FailureCode } from '../../src/contract/failure-code.js';
import { costChart } from './charts/cost-chart.js';
import { outcomesChart } from './charts/outcomes-chart.js';
import type { Chart } from './charts/plot.js';
import { quantileOf, spreadChart } from './charts/spread-chart.js';
import { allOf, type MoneyRow } from './survey/sum-money.js';
import type { Survey } from './survey/survey-run.js';
import { countOf, formatCount, formatPeriod, formatShare, formatSpan } from './messages/format-amounts.js';
import { describeRun } from './messages/describe-run.js';
import { moneyOrDash, viewByValue, type ByValueView } from './by-value-view.js';
import { viewToDos, type ToDoView } from './to-do-view.js';
import { countedLabel, toneOf, type Tone } from './messages/status-label.js';

/** The data for the templates; plain text except `svg`. */
export interface ReportView {
  readonly name: string;
  readonly sentence: string;
  readonly facts: readonly string[];
  readonly outcomes: readonly OutcomeView[];
  readonly money: readonly MoneyView[];
  readonly byValue: readonly ByValueView[];
  readonly times: readonly {
    readonly name: string;
    readonly half: string;
    readonly most: string;
    readonly longest: string;
  }[];
  /** Those that have something to draw. */
  readonly charts: readonly Chart[];
  readonly toDos: readonly ToDoView[];
  /** Whether a process works on the run: the commands can only be used after it has ended. */
  readonly isRunning: boolean;
  /** The content of the gallery, such as `42 pictures`; empty for an empty gallery. */
  readonly review: string;
  readonly isRehearsal: boolean;
  readonly leftOut: readonly string[];
}

interface OutcomeView {
  readonly label: string;
  readonly tone: Tone | 'open';
  readonly count: string;
  readonly share: string;
  /** Percent of the bar. */
  readonly x: number;
  readonly width: number;
  /** The name of the gallery's filter; empty if there is nothing to see. */
  readonly filter: string;
}

interface MoneyView {
  readonly name: string;
  readonly purchases: string;
  readonly reported: string;
  readonly estimated: string;
  readonly unknown: string;
  readonly isTotal: boolean;
}

export function viewReport(survey: Survey, leftOut: readonly string[], isRunning = false): ReportView {
  const { rows } = survey;
  return {
    name: survey.name,
    sentence: describeRun(survey, isRunning),
    facts: factsOf(survey),
    outcomes: outcomesOf(survey),
    money: moneyOf(survey),
    byValue: viewByValue(survey),
    times: [timesOf('in the queue', rows.delays), timesOf('at work', rows.executions)].flatMap(
      (times) => times ?? [],
    ),
    charts: [
      outcomesChart(survey),
      costChart(survey),
      spreadChart('Time in the queue', rows.delays),
      spreadChart('Time at work', rows.executions),
    ].filter(({ svg }) => svg !== ''),
    toDos: viewToDos(survey, isRunning),
    isRunning,
    review: reviewWords(survey),
    isRehearsal: survey.isRehearsal,
    leftOut: [...leftOut, ...unreadOf(survey)],
  };
}

/** What the run's files lack, in sentences. */
export function unreadOf({ rows, lostRows }: Pick<Survey, 'rows' | 'lostRows'>): string[] {
  const skipped = `${countOf(rows.skipped, 'line')} of the run's files could not be read.`;
  const lost = `${countOf(lostRows, 'row')} ${lostRows === 1 ? 'has' : 'have'} ended and ${lostRows === 1 ? 'is' : 'are'} in neither results.jsonl nor failures.jsonl: a file was removed or cut. The next start of the run writes it again.`;
  return [...(rows.skipped > 0 ? [skipped] : []), ...(lostRows > 0 ? [lost] : [])];
}

function factsOf({ story, folder, spans }: Survey): string[] {
  const [first, last] = [spans[0], spans.at(-1)];
  const host = story.starts.at(-1);
  return [
    first === undefined || last === undefined ? '' : formatPeriod(first.from, last.to),
    host === undefined
      ? ''
      : host.local
        ? 'rehearsal on the emulator'
        : host.baseUrl.replace(/^https?:\/\//, ''),
    story.starts.length > 1 ? countOf(story.starts.length, 'start') : '',
    basename(folder),
  ].filter((fact) => fact !== '');
}

/** A minimum width in the bar, so that a single row can be seen on a phone. */
const leastShare = 0.015;

function outcomesOf({ rows, toDo }: Survey): OutcomeView[] {
  const byCode = new Map<FailureCode, number>();
  for (const { code, count } of rows.causes) byCode.set(code, (byCode.get(code) ?? 0) + count);
  const all = rows.places.length - rows.toGo + toDo;
  const parts = [
    { label: 'completed', tone: 'completed' as const, count: rows.completed, filter: 'completed' },
    ...[...byCode].map(([code, count]) => ({
      label: countedLabel(code, count),
      tone: toneOf(code),
      count,
      filter: code,
    })),
    // The gallery has those of them whose earlier result is still shown.
    { label: 'to go', tone: 'open' as const, count: toDo, filter: rows.toGo > 0 ? 'to-go' : '' },
  ].filter(({ count }) => count > 0);
  const widths = parts.map(({ count }) => Math.max(count / all, leastShare));
  const unit = 100 / widths.reduce((sum, width) => sum + width, 0);
  let x = 0;
  return parts.map(({ count, ...part }, index) => {
    const width = (widths[index] ?? 0) * unit;
    x += width;
    return { ...part, count: formatCount(count), share: formatShare(count, all), x: x - width, width };
  });
}

function moneyOf({ money }: Survey): MoneyView[] {
  const row = (name: string, sums: MoneyRow, isTotal: boolean): MoneyView => ({
    name,
    purchases: formatCount(sums.purchases),
    reported: moneyOrDash(sums.reported),
    estimated: moneyOrDash(sums.estimated),
    unknown: moneyOrDash(sums.unknown),
    isTotal,
  });
  const parts = [...money.byResolution].map(([name, sums]) =>
    row(name === '' ? (money.byResolution.size === 1 ? 'all rows' : 'other') : name, sums, false),
  );
  if (allOf(money.total) === 0) return [];
  return parts.length === 1 ? parts : [...parts, row('all', money.total, true)];
}

function timesOf(name: string, sorted: ArrayLike<number>): ReportView['times'][number] | undefined {
  if (sorted.length === 0) return undefined;
  return {
    name,
    half: formatSpan(quantileOf(sorted, 0.5)),
    most: formatSpan(quantileOf(sorted, 0.95)),
    longest: formatSpan(quantileOf(sorted, 1)),
  };
}

function reviewWords({ rows: { completed, toGo, pictures } }: Survey): string {
  const results = completed + toGo;
  if (results === 0) return '';
  return countOf(results, pictures === results ? 'picture' : 'result');
}
