import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';

/** 1234567 → `1,234,567`. Without Intl, whose first call takes 15 ms. */
export function formatCount(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** `1 row`, `2 rows`. `plural` for nouns that do not just add an s. */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** 87500 → `$0.0875`, 26250000 → `$26.25`: at least cents, and more digits only where they are not zero. */
export function formatMoney(amount: MicroDollars): string {
  const [dollars = '0', fraction = ''] = toUsd(Math.abs(amount)).toFixed(6).split('.');
  const digits = fraction.replace(/0+$/, '').padEnd(2, '0');
  return `${amount < 0 ? '-' : ''}$${formatCount(Number(dollars))}.${digits}`;
}

/** A duration in ms for people: `45 s`, `4 min`, `2 h 05 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
