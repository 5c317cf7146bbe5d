import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { countOf, formatCount, formatSpan } from '../../report/messages/format-amounts.js';

export { countOf, formatCount };

/** 87500 → `$0.0875`, 26250000 → `$26.25`: at least cents, and more digits only where they are not zero. */
export function formatMoney(amount: MicroDollars): string {
  const [dollars = '0', fraction = ''] = toUsd(Math.abs(amount)).toFixed(6).split('.');
  const digits = fraction.replace(/0+$/, '').padEnd(2, '0');
  return `${amount < 0 ? '-' : ''}$${formatCount(Number(dollars))}.${digits}`;
}

/** A duration in ms for people: `45 s`, `4 min`, `2 h 05 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  return seconds < 90 ? `${seconds} s` : formatSpan(seconds * 1000);
}
