import type { StartCounts } from '../row/run-tally.js';

/** From so many ended rows on a percentage of them says something. */
const enoughEnded = 20;

/**
 * Whether so many rows of this start have failed that the run stops. A percentage counts of the rows to do, and of those that
 * have ended once they are enough. Invalid rows do not count: nothing of them was sent.
 *
 * @param rows how many rows this start has to do
 */
export function isHalted(
  halt: { readonly count: number } | { readonly percent: number } | undefined,
  rows: number,
  { ended, failed: all, invalid }: Pick<StartCounts, 'ended' | 'failed' | 'invalid'>,
): boolean {
  const failed = all - invalid;
  if (halt === undefined || failed === 0) return false;
  if ('count' in halt) return failed >= halt.count;
  const isOver = (of: number): boolean => failed * 100 >= halt.percent * of;
  return (rows > 0 && isOver(rows)) || (ended >= enoughEnded && isOver(ended));
}
