import { countOf, formatCount, formatSpan } from '../../report/messages/format-amounts.js';

export { formatMoney } from '../../../src/contract/micro-dollars.js';
export { countOf, formatCount };

/** A duration in ms for people: `45 s`, `4 min`, `2 h 05 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 90 ? `${seconds} s` : formatSpan(seconds * 1000);
}
