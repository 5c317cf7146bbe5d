import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { PlanDifference } from '../commands/plan-difference.js';
import { countOf, formatCount, formatDuration } from './amounts.js';
import { capText } from './ahead-text.js';
import { plainText } from './plain-text.js';
import { priceText } from './plan-text.js';
import { shellWords } from '../../batch/manifest/quote-value.js';

/** The difference between a manifest and the run in its folder, a line for each kind of row, and what a start would cost. */
export function differenceText(found: PlanDifference, shownOut: string): string[] {
  const { ahead, isBegun, done, goingOn, takesMs, notes } = found;
  const { toSend, retried, redone, doubled, toPoll, toDownload, toHold, later, gone, changed } = ahead;
  const again = [
    retried > 0 && `${formatCount(retried)} failed before`,
    redone > 0 && `${formatCount(redone)} have changed`,
    doubled > 0 && `${formatCount(doubled)} may have been bought`,
  ].filter((part) => part !== false);
  const ongoing = goingOn + toPoll + toDownload;
  const ids = changed.ids.map((id) => plainText(id, 60)).join(', ');
  const more = changed.count > changed.ids.length ? ', …' : '';
  const run = [
    ...fact('folder', `${shownOut}: the run goes on, and this is the difference`),
    ...fact(
      'done',
      `${formatCount(done.completed)} completed${done.failed > 0 ? `, ${formatCount(done.failed)} failed` : ''}`,
    ),
    ...fact(
      'going on',
      ongoing > 0 ? `${countOf(ongoing, 'row')} whose job or picture is asked for; nothing is bought` : '',
    ),
    ...fact(
      'to be sent',
      `${countOf(toSend + doubled, 'row')}${again.length > 0 ? ` (${again.join(', ')})` : ''}`,
    ),
    ...fact(
      'changed',
      changed.count > 0 ? `${countOf(changed.count, 'row')}, kept as bought: ${ids}${more}` : '',
    ),
    ...fact('held', heldText(done.held + toHold, shownOut)),
    ...fact('later', later > 0 ? `${countOf(later, 'row')} left for a later start` : ''),
    ...fact('not in it', gone > 0 ? `${countOf(gone, 'row')} of the run: their results stay` : ''),
  ];
  return [
    ...(isBegun ? run : []),
    ...capText(ahead),
    ...fact(
      'this start',
      `may cost ${priceText({ ...ahead.price, estimated: ahead.fits.estimated })}${takesText(takesMs)}`,
    ),
    ...notes,
  ];
}

/** The same for `plan --json`; money in USD, times in ms. */
export function differenceJson({ out, ahead, isBegun, done, goingOn, takesMs }: PlanDifference): object {
  const { toSend, retried, redone, doubled, toPoll, toDownload, toHold, later, gone, changed, cap, fits } =
    ahead;
  return {
    start: {
      ...{
        out,
        isBegun,
        done,
        goingOn,
        toPoll,
        toDownload,
        toSend,
        retried,
        redone,
        doubled,
        toHold,
        later,
        gone,
        changed,
      },
      ...(cap && { cap: { usd: cap.usd, source: cap.source, left: toUsd(Math.max(cap.left, 0)) } }),
      fits: { rows: fits.rows, cost: toUsd(fits.estimated) },
      cost: { estimated: toUsd(ahead.price.estimated), unpriced: ahead.price.unpriced },
      ...(takesMs !== undefined && { takesMs: Math.round(takesMs) }),
    },
  };
}

function heldText(held: number, out: string): string {
  if (held === 0) return '';
  return `${countOf(held, 'row')} that may have been bought: a person decides with ${shellWords('millrace', 'settle', out)} ID`;
}

function takesText(takesMs: number | undefined): string {
  return takesMs === undefined
    ? ''
    : `, and take about ${formatDuration(takesMs)} at the pace of the last one`;
}

function fact(label: string, text: string): string[] {
  return text === '' ? [] : [`  ${label.padEnd(12)} ${text}`];
}
