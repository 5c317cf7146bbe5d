import { scaleLinear } from 'd3-scale';
import { formatCount, formatSpan } from '../messages/format-amounts.js';
import { type Chart, drawPlot, labelsUnder, narrow, round, valueAxis } from './plot.js';

const binsWanted = 30;

/**
 * How a duration is distributed over the jobs. Extreme values share the last, lighter bar, so that they do not
 * flatten the others.
 *
 * @param sorted ms, ascending
 */
export function spreadChart(title: string, sorted: ArrayLike<number>): Chart {
  if (sorted.length < 2) return { title, caption: '', svg: '' };
  const [half, most] = [quantileOf(sorted, 0.5), quantileOf(sorted, 0.95)];
  const longest = quantileOf(sorted, 1);
  const caption = `Median ${formatSpan(half)}, slowest ${formatSpan(longest)}.`;
  const last = Math.min(quantileOf(sorted, 0.99) * 1.02, most * 2);
  const x = scaleLinear([0, Math.max(last, 1)], [narrow.from, narrow.to]).nice(5);
  const bins = countBins(sorted, x.domain()[1] ?? 1);
  const y = scaleLinear([0, Math.max(...bins)], [narrow.base, narrow.top]).nice(3);
  const width = (narrow.to - narrow.from) / binsWanted;
  const step = (x.domain()[1] ?? 1) / binsWanted;
  const bars = bins.map((count, index) => {
    const isLast = index === binsWanted - 1 && longest > (x.domain()[1] ?? 1);
    const words = `${formatCount(count)} of ${formatSpan(index * step)} ${isLast ? 'and more' : `to ${formatSpan((index + 1) * step)}`}`;
    return count === 0
      ? ''
      : `<rect class="amount${isLast ? ' beyond' : ''}" x="${round(narrow.from + index * width + 0.5)}" y="${round(y(count))}" width="${round(width - 1)}" height="${round(narrow.base - y(count))}"><title>${words}</title></rect>`;
  });
  const labels = x
    .ticks(5)
    .filter(Number.isInteger)
    .map((tick) => ({ x: x(tick), text: tick === 0 ? '0' : formatSpan(tick) }));
  const content = [
    valueAxis(y.ticks(3).filter(Number.isInteger), y, formatCount),
    ...bars,
    medianLine(x(half)),
    labelsUnder(labels),
  ];
  return { title, caption, svg: drawPlot(caption, content) };
}

function countBins(sorted: ArrayLike<number>, end: number): number[] {
  const bins = Array.from({ length: binsWanted }, () => 0);
  for (let place = 0; place < sorted.length; place++) {
    const value = sorted[place] ?? 0;
    const index = Math.min(binsWanted - 1, Math.max(0, Math.floor((value / end) * binsWanted)));
    bins[index] = (bins[index] ?? 0) + 1;
  }
  return bins;
}

function medianLine(at: number): string {
  return `<line class="median" x1="${round(at)}" x2="${round(at)}" y1="${narrow.top - 4}" y2="${narrow.base}"/><text class="median-label" x="${round(at + 4)}" y="${narrow.top + 4}">median</text>`;
}

/** The value below which a share of the sorted values lies; 0 if there are none. */
export function quantileOf(sorted: ArrayLike<number>, share: number): number {
  const at = Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1);
  return sorted[Math.max(0, at)] ?? 0;
}
