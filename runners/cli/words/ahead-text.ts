import type { Ahead } from '../../batch/start/check/ahead.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { countOf, formatCount, formatMoney } from './amounts.js';
import { priceText } from './plan-text.js';

/** What a start does of its manifest, where that is not simply all of it, and what it costs then. */
export function aheadText(ahead: Ahead, local: boolean): string[] {
  const { toSend, retried, redone, doubled, toPoll, toDownload, toHold, later, invalid, ended, gone, price } =
    ahead;
  const again = [
    retried > 0 && `${formatCount(retried)} failed before`,
    redone > 0 && `${formatCount(redone)} have changed`,
  ];
  const told = again.filter((part) => part !== false).join(', ');
  const parts = [
    `${countOf(toSend, 'row')} to send${told === '' ? '' : ` (${told})`}`,
    doubled > 0 && `${formatCount(doubled)} to send again that may have been bought`,
    toPoll > 0 && `${formatCount(toPoll)} to ask about`,
    toDownload > 0 && `${countOf(toDownload, 'picture')} to fetch`,
    toHold > 0 && `${formatCount(toHold)} to be held`,
    invalid > 0 && `${formatCount(invalid)} invalid`,
    later > 0 && `${formatCount(later)} left for later`,
    ended > 0 && `${formatCount(ended)} ended before`,
  ].filter((part) => part !== false);
  const are = gone === 1 ? 'row of earlier starts is' : 'rows of earlier starts are';
  return [
    ...(gone > 0
      ? [`  not in it    ${formatCount(gone)} ${are} not in this manifest: their results stay`]
      : []),
    `  this start   ${parts.join(', ')}`,
    ...capText(ahead),
    `  ${local ? 'would cost  ' : 'may cost    '} ${priceText(price)}${local ? ', and is a rehearsal: nothing is spent' : ''}`,
  ];
}

const sources = {
  given: 'given to this start',
  remembered: 'which the run remembers',
  configured: 'of the configuration',
};

/** The cap in force, where it is from, and how many rows fit under it. */
export function capText({ cap, fits, toSend, doubled }: Ahead): string[] {
  if (cap === undefined) return [];
  const usd = toMicroDollars(cap.usd);
  const left = cap.left < usd ? ` with ${formatMoney(Math.max(cap.left, 0))} left` : '';
  const sent = toSend + doubled;
  const rows = fits.rows < sent ? `${formatCount(fits.rows)} of ${countOf(sent, 'row')} fit` : 'all rows fit';
  const what = sent === 0 ? '' : `: ${rows}${fits.rows < sent ? `, for ${formatMoney(fits.estimated)}` : ''}`;
  return [
    `  cap          ${formatMoney(usd)}, ${sources[cap.source]}${left === '' ? '' : `,${left}`}${what}`,
  ];
}
