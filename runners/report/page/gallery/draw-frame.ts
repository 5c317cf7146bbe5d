import type { PageReference, PageRow } from '../../page-data.js';
import { formatPrice } from '../../messages/format-amounts.js';
import { sentenceCase, statusLabel, toneOf } from '../../messages/status-label.js';
import { check, h, link, pencilCross } from '../dom.js';
import { thumbnail } from '../rows/draw-thumbnail.js';
import type { Review, Verdict } from '../review/redo-manifest.js';
import { canDecide } from '../review/reviews.js';
import { promptOf } from '../rows/row-store.js';

export interface FrameActions {
  /** The row was clicked on; with Shift or Ctrl it is selected. */
  open(event: MouseEvent): void;
  decide(verdict: Verdict | null): void;
  /** Nothing was spent: no price stands at a frame. */
  readonly isRehearsal: boolean;
}

const referencesShown = 3;

/** One frame of the contact sheet: the references beside the result, its number, id, cost and prompt. */
export function drawFrame(row: PageRow, review: Review | undefined, actions: FrameActions): HTMLElement {
  return h(
    'li',
    { class: `frame ${toneOf(row.status)} ${review?.verdict ?? ''}` },
    h('div', { class: 'mat' }, drawReferences(row.references), drawResult(row, review, actions)),
    drawEdge(row, review, actions.isRehearsal),
    h('p', { class: 'prompt' }, review?.prompt ?? promptOf(row) ?? ''),
    drawVerdicts(row, review, actions),
  );
}

function drawEdge(row: PageRow, review: Review | undefined, isRehearsal: boolean): HTMLElement {
  const versions = row.earlier?.length ?? 0;
  return h(
    'p',
    { class: 'edge' },
    h('span', { class: 'number' }, row.row),
    h('span', { class: 'id', title: row.id }, row.id),
    versions > 0 && h('span', { class: 'again', title: 'bought again' }, `×${versions + 1}`),
    review?.stars !== undefined &&
      h(
        'span',
        { class: 'stars', 'aria-label': `${review.stars} stars`, role: 'img' },
        '★'.repeat(review.stars),
      ),
    !isRehearsal &&
      row.cost !== undefined &&
      row.cost !== null &&
      h('span', { class: 'cost' }, formatPrice(row.cost)),
  );
}

function drawReferences(references: readonly PageReference[]): HTMLElement | false {
  if (references.length === 0) return false;
  const more = references.length - referencesShown;
  return h(
    'div',
    { class: 'references' },
    ...references.slice(0, referencesShown).map(drawReference),
    more > 0 && h('span', { class: 'more' }, `+${more}`),
  );
}

function drawReference(reference: PageReference): HTMLElement {
  const picture = thumbnail(reference.thumb, `Reference ${reference.name}`);
  if (picture !== undefined) return picture;
  const host = /^https?:\/\/([^/]+)/i.exec(reference.url ?? '')?.[1];
  return link(reference.url, host === undefined ? '?' : '↗', {
    class: 'remote',
    title: reference.name,
    'aria-label': `Reference ${reference.name}`,
    tabindex: '-1',
  });
}

function drawResult(row: PageRow, review: Review | undefined, actions: FrameActions): HTMLElement {
  const verdict = review?.verdict === undefined ? '' : `, ${review.verdict}`;
  return h(
    'button',
    { type: 'button', class: 'result', tabindex: '-1', onclick: (event: MouseEvent) => actions.open(event) },
    h('span', { class: 'unseen' }, `${row.id}, ${statusLabel(row.status)}${verdict}`),
    resultContent(row),
    pencilCross(),
    check(),
  );
}

export function resultContent(row: PageRow): HTMLElement {
  const missing = `File not found: ${decodeURIComponent(row.picture?.path ?? row.id)}`;
  const picture = thumbnail(row.picture?.thumb, '', missing);
  if (picture !== undefined) return picture;
  if (row.error !== undefined)
    return h(
      'span',
      { class: 'words' },
      h('b', {}, sentenceCase(statusLabel(row.status))),
      h('span', {}, row.error.message),
    );
  return h('span', { class: 'words output' }, row.output ?? 'No picture');
}

const names = { kept: ['Keep', 'Kept'], rejected: ['Reject', 'Rejected'] } as const;

function drawVerdicts(row: PageRow, review: Review | undefined, actions: FrameActions): HTMLElement {
  const buttons = (['kept', 'rejected'] as const).map((verdict) => {
    const isPressed = review?.verdict === verdict;
    return (
      canDecide(row, verdict) &&
      h(
        'button',
        {
          type: 'button',
          class: verdict === 'kept' ? 'keep' : 'reject',
          'aria-pressed': String(isPressed),
          tabindex: '-1',
          onclick: () => actions.decide(isPressed ? null : verdict),
        },
        names[verdict][isPressed ? 1 : 0],
        h('span', { class: 'unseen' }, ` ${row.id}`),
      )
    );
  });
  return h('p', { class: 'verdicts' }, ...buttons);
}
