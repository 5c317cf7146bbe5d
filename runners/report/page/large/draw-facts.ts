import { formatMoney } from '../../../../src/contract/micro-dollars.js';
import { shellWords } from '../../../batch/manifest/quote-value.js';
import type { PageRow, RunFacts } from '../../page-data.js';
import { formatCount, formatSpan } from '../../messages/format-amounts.js';
import { sentenceCase, statusLabel, toneOf } from '../../messages/status-label.js';
import { h, link } from '../dom.js';

const paidWords = { no: 'not charged', maybe: 'may have been charged', yes: 'charged' } as const;
const shownElsewhere = new Set(['id', 'kind', 'endpoint', 'images', 'prompt', 'redo']);

/** How the row ended, and what it cost. */
export function drawStatus(row: PageRow, isRehearsal: boolean): HTMLElement {
  const state = toneOf(row.status);
  const cost = row.cost === undefined || row.cost === null ? 'cost not reported' : formatMoney(row.cost);
  const paid = row.error === undefined ? cost : paidWords[row.error.paid];
  const money = isRehearsal ? 'rehearsal, nothing spent' : paid;
  return h(
    'p',
    { class: 'status' },
    h('i', { class: `dot ${state}` }),
    sentenceCase(statusLabel(row.status)),
    h('span', {}, money),
  );
}

/** The request, and what is known of the job. */
export function drawFacts(row: PageRow, isRehearsal: boolean): HTMLElement {
  const parameters = Object.entries(row.cells ?? {}).filter(([name]) => !shownElsewhere.has(name));
  const facts: [string, string | HTMLElement | undefined][] = [
    ...parameters.map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    ['in the queue', row.delayTime === undefined ? undefined : formatSpan(row.delayTime)],
    ['at work', row.executionTime === undefined ? undefined : formatSpan(row.executionTime)],
    ['ended', row.settledAt === undefined ? undefined : dated(row.settledAt)],
    ['endpoint', row.endpoint === '' ? undefined : row.endpoint],
    ['job', row.jobId === '' ? undefined : row.jobId],
    ['attempts', row.attempts === undefined || row.attempts === 1 ? undefined : formatCount(row.attempts)],
    ['HTTP', row.error?.httpStatus === undefined ? undefined : String(row.error.httpStatus)],
    [
      'file',
      row.picture?.path === undefined
        ? undefined
        : link(row.picture.path, decodeURIComponent(row.picture.path)),
    ],
    // The references of a rehearsal were served by its emulator, which is gone.
    ['at the service', isRehearsal ? undefined : serviceLink(row)],
  ];
  const shown = facts.flatMap(([name, value]) =>
    value === undefined ? [] : [h('dt', {}, name), h('dd', {}, value)],
  );
  return h('dl', { class: 'facts' }, ...shown);
}

function serviceLink({ picture }: PageRow): HTMLElement | undefined {
  if (picture?.url === undefined) return undefined;
  return link(picture.url, picture.expiresAt === undefined ? 'open' : `until ${dated(picture.expiresAt)}`);
}

function dated(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  return at.toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

/** Why a row cannot be redone from here, and what to do instead. */
export function drawWhyNot(row: PageRow, run: RunFacts): HTMLElement {
  const prompt = row.cells?.['prompt'];
  return h(
    'div',
    { class: 'next' },
    typeof prompt === 'string' && h('p', {}, prompt),
    h('p', { class: 'price' }, whyNot(row, run)),
  );
}

/** Jobs and pictures of a rehearsal end with its emulator, and nothing can be looked up there. */
const whyNotInRehearsal: Readonly<Record<string, string>> = {
  download: 'The download failed. In a real run the picture would wait at the service for 7 days.',
  deadline:
    'Its job ended with the emulator. In a real run the next start asks for it first, and buys nothing.',
  expired: 'Its job ended with the emulator. Send it again with --retry expired.',
  unknown: 'In doubt. In a real run look at your account first; here, send it again with --retry unknown.',
};

function whyNot({ status, error }: PageRow, { folder, isRehearsal }: RunFacts): string {
  if (error === undefined || error.paid === 'no') return 'Too long to edit here. Change it in the manifest.';
  const rehearsed = isRehearsal ? whyNotInRehearsal[status] : undefined;
  if (rehearsed !== undefined) return rehearsed;
  if (status === 'download')
    return `Paid, but the download failed. Download it for free: ${shellWords('millrace', 'refetch', folder)}`;
  if (status === 'deadline')
    return 'It may still be running. Run again: it is asked for first, and nothing is bought.';
  if (status === 'unknown')
    return `In doubt: it may have been charged. Look at your account; \`${shellWords('millrace', 'settle', folder)}\` lists the ways to decide.`;
  return `This row may be paid for, so it is not redone from here. Buy it again with --retry ${status}.`;
}
