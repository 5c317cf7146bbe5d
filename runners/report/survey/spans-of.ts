import type { RunStory } from './run-story.js';

/** A stretch of time, in ms since the epoch. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A pause shorter than this part of the working time is not worth a break in the charts. */
const noticeable = 0.15;

/**
 * The times in which a run was at work: from each start to its stop, or to the last row that ended before the next
 * start. Starts with a short pause between them are one stretch.
 */
export function spansOf(story: RunStory, ends: readonly number[]): Span[] {
  const begins = story.starts.map(({ at }) => at);
  const first = ends[0];
  if (begins.length === 0 && first !== undefined) begins.push(first);
  const spans = begins.map((from, index) => ({
    from,
    to: endOf(from, begins[index + 1] ?? Infinity, story, ends),
  }));
  return joinClose(spans);
}

function endOf(from: number, next: number, story: RunStory, ends: readonly number[]): number {
  const stop = story.stops.find(({ at }) => at >= from && at <= next)?.at ?? from;
  const last = ends.findLast((at) => at >= from && at < next) ?? from;
  return Math.max(stop, last);
}

function joinClose(spans: readonly Span[]): Span[] {
  const worked = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const joined: Span[] = [];
  for (const span of spans) {
    const before = joined.at(-1);
    if (before !== undefined && span.from - before.to <= worked * noticeable)
      joined[joined.length - 1] = { from: before.from, to: span.to };
    else joined.push(span);
  }
  return joined.filter(({ from, to }, index) => to > from || index === 0);
}
