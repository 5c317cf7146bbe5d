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
 *
 * @param ends When rows ended, in any order.
 */
export function spansOf(story: RunStory, ends: Iterable<number>): Span[] {
  const begins = story.starts.map(({ at }) => at);
  if (begins.length === 0) for (const at of ends) begins[0] = Math.min(begins[0] ?? at, at);
  const starts = begins.map((from, index) => ({ from, next: begins[index + 1] ?? Infinity }));
  const lastEnds = lastEndOfEach(starts, ends);
  return joinClose(
    starts.map(({ from, next }, index) => {
      const stop = story.stops.find(({ at }) => at >= from && at <= next)?.at ?? from;
      return { from, to: Math.max(stop, lastEnds[index] ?? from) };
    }),
  );
}

/** One after another, rows mostly belong to the same start. */
function lastEndOfEach(
  starts: readonly { from: number; next: number }[],
  ends: Iterable<number>,
): (number | undefined)[] {
  const last: (number | undefined)[] = [];
  let index = -1;
  const isIn = (start: { from: number; next: number } | undefined, at: number): boolean =>
    start !== undefined && at >= start.from && at < start.next;
  for (const at of ends) {
    if (!isIn(starts[index], at)) index = starts.findIndex((start) => isIn(start, at));
    if (index >= 0) last[index] = Math.max(last[index] ?? at, at);
  }
  return last;
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
