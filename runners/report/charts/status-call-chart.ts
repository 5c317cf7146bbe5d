import { scaleBand, scaleLinear } from 'd3-scale';
import { countOf, formatCount } from '../messages/format-amounts.js';
import { drawPlot, narrow, labelUnder, round, valueAxis, type Chart } from './plot.js';

const mostShown = 12;

/**
 * How often the service was asked for the state of a job.
 *
 * @param jobs How many jobs had so many status calls.
 */
export function statusCallChart(jobs: ReadonlyMap<number, number>): Chart {
  const title = 'Status calls a job';
  if (jobs.size === 0) return { title, caption: 'No journal, so nothing is known of status calls.', svg: '' };
  const total = [...jobs].reduce((sum, [calls, count]) => sum + calls * count, 0);
  if (total === 0)
    return { title, caption: 'No status call was needed: every answer came with its own request.', svg: '' };
  const most = [...jobs.keys()].reduce((top, calls) => Math.max(top, calls), 0);
  const tally = Array.from({ length: Math.min(mostShown, most) + 1 }, () => 0);
  for (const [calls, count] of jobs) {
    const bar = Math.min(calls, mostShown);
    tally[bar] = (tally[bar] ?? 0) + count;
  }
  const ended = tally.reduce((sum, count) => sum + count, 0);
  const caption = `${countOf(total, 'status call')} in all, ${(total / ended).toFixed(1)} a job.`;
  const names = tally.map((_, calls) => (calls === mostShown ? `${calls}+` : String(calls)));
  const x = scaleBand(names, [narrow.from, narrow.to]).paddingInner(0.12).paddingOuter(0.06);
  const y = scaleLinear([0, Math.max(...tally)], [narrow.base, narrow.top]).nice(3);
  const bars = tally.map((count, calls) => {
    const left = x(names[calls] ?? '') ?? 0;
    const label = labelUnder(left + x.bandwidth() / 2, names[calls] ?? '');
    if (count === 0) return label;
    return `<rect class="amount" x="${round(left)}" y="${round(y(count))}" width="${round(x.bandwidth())}" height="${round(narrow.base - y(count))}"><title>${countOf(count, 'job')}</title></rect>${label}`;
  });
  return {
    title,
    caption,
    svg: drawPlot(caption, [valueAxis(y.ticks(3).filter(Number.isInteger), y, formatCount), ...bars]),
  };
}
