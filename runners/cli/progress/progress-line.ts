import { countOf, formatCount, formatDuration, formatMoney } from '../words/amounts.js';
import type { ProgressView } from './progress-view.js';

/** The display as one plain line, for logs and mails: no control characters, nothing that is redrawn. */
export function progressLine(view: ProgressView): string {
  if (view.rows === undefined) return 'reading the manifest';
  const done = view.endedBefore + view.completed + view.failed + view.unknown;
  const rows = `${formatCount(done)} of ${countOf(Math.max(view.rows, done), 'row')}`;
  const counts = [
    `${formatCount(view.completed)} completed`,
    view.failed > 0 && `${formatCount(view.failed)} failed`,
    view.unknown > 0 && `${formatCount(view.unknown)} unknown`,
    `${view.inFlight} in flight`,
    view.endedBefore > 0 && `${formatCount(view.endedBefore)} done before`,
  ];
  const pace = [
    view.rowsPerMinute !== undefined && `${formatCount(view.rowsPerMinute)} rows a minute`,
    view.leftMs !== undefined && `${formatDuration(view.leftMs)} left`,
  ];
  const cap = view.money.cap === undefined ? '' : ` of ${formatMoney(view.money.cap)}`;
  const parts = [
    `${rows}: ${listed(counts)}`,
    listed(pace),
    `${formatMoney(view.money.spent)}${cap} spent`,
    view.stopping ? 'stopping' : (view.cause ?? ''),
  ];
  return parts.filter((part) => part !== '').join('; ');
}

function listed(parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(', ');
}
