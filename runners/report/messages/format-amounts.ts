import { formatMoney, type MicroDollars } from '../../../src/contract/micro-dollars.js';

export { countOf, formatCount } from '../../batch/manifest/quote-value.js';

/** An estimate in cents: 29582500 → `$29.58`. */
export function formatSum(amount: MicroDollars): string {
  if (amount > 0 && amount < 5000) return 'under $0.01';
  return formatMoney(Math.round(amount / 1e4) * 1e4);
}

/** A sum in a sentence: in cents from a dollar on, below that with all digits: 29582500 → `$29.58`, 175000 → `$0.175`. */
export function formatTotal(amount: MicroDollars): string {
  return amount < 1e6 ? formatMoney(amount) : formatSum(amount);
}

/** `640 B`, `1.4 kB`, `23 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, size] = bytes < 999_500 ? ['kB', 1e3] : bytes < 999.5e6 ? ['MB', 1e6] : ['GB', 1e9];
  const amount = bytes / size;
  return `${amount < 9.95 ? amount.toFixed(1) : Math.round(amount)} ${unit}`;
}

/** `340 ms`, `8.2 s`, `45 s`, `14 min`, `2 h 05 min`, `3 d 4 h`. */
export function formatSpan(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 89.5) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** `0.8%`, `99.3%`; `100%` only for everything. */
export function formatShare(part: number, whole: number): string {
  if (whole === 0 || part === 0) return '0%';
  if (part === whole) return '100%';
  const percent = (part / whole) * 100;
  return percent >= 99.95 ? 'over 99.9%' : percent < 0.05 ? 'under 0.1%' : `${percent.toFixed(1)}%`;
}

/** A span of time between two ms since the epoch; their common part is printed once. */
export function formatPeriod(from: number, to: number): string {
  const day = (at: number): string =>
    new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' });
  const time = (at: number): string =>
    new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  const sameDay = day(from) === day(to);
  if (sameDay && time(from) === time(to)) return `${day(from)}, ${time(from)}`;
  return sameDay
    ? `${day(from)}, ${time(from)} – ${time(to)}`
    : `${day(from)}, ${time(from)} – ${day(to)}, ${time(to)}`;
}
