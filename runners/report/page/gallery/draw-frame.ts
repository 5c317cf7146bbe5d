import type { PageReference, PageRow } from '../../page-data.js';
import { formatPrice } from '../../messages/format-amounts.js';
import { sentenceCase, statusLabel, toneOf } from '../../messages/status-label.js';
import { h, link, pencilCross, setAddress } from '../dom.js';
import { canRepeat } from '../rejections.js';
import { type Rejection } from '../redo-manifest.js';
import { promptOf } from '../row-store.js';

export interface FrameActions {
  open(): void;
  toggle(): void;
  /** Nothing was spent: no price stands at a frame. */
  readonly isRehearsal: boolean;
}

const referencesShown = 3;

/** One frame of the contact sheet: the references beside the result, its number, id, cost and prompt. */
export function drawFrame(
  row: PageRow,
  rejection: Rejection | undefined,
  actions: FrameActions,
): HTMLElement {
  const state = toneOf(row.status);
  return h(
    'li',
    { class: `frame ${state}${rejection === undefined ? '' : ' rejected'}` },
    h('div', { class: 'mat' }, drawReferences(row.references), drawResult(row, rejection, actions)),
    h(
      'p',
      { class: 'edge' },
      h('span', { class: 'number' }, row.row),
      h('span', { class: 'id', title: row.id }, row.id),
      (row.earlier?.length ?? 0) > 0 &&
        h('span', { class: 'again', title: 'bought again' }, `×${(row.earlier?.length ?? 0) + 1}`),
      !actions.isRehearsal &&
        row.cost !== undefined &&
        row.cost !== null &&
        h('span', { class: 'cost' }, formatPrice(row.cost)),
    ),
    h('p', { class: 'prompt' }, rejection?.prompt ?? promptOf(row) ?? ''),
    canRepeat(row) && rejectButton(row, rejection, actions),
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
  const picture = h('img', { alt: `Reference ${reference.name}`, loading: 'lazy', decoding: 'async' });
  if (reference.thumb?.startsWith('data:') === true) picture.loading = 'eager';
  if (setAddress(picture, reference.thumb)) return picture;
  const host = /^https?:\/\/([^/]+)/i.exec(reference.url ?? '')?.[1];
  return link(reference.url, host === undefined ? '?' : '↗', {
    class: 'remote',
    title: reference.name,
    'aria-label': `Reference ${reference.name}`,
    tabindex: '-1',
  });
}

function drawResult(row: PageRow, rejection: Rejection | undefined, actions: FrameActions): HTMLElement {
  const label = `${row.id}, ${statusLabel(row.status)}${rejection === undefined ? '' : ', rejected'}`;
  return h(
    'button',
    { type: 'button', class: 'result', tabindex: '-1', onclick: () => actions.open() },
    h('span', { class: 'unseen' }, label),
    resultContent(row),
    pencilCross(),
  );
}

function resultContent(row: PageRow): HTMLElement {
  const picture = h('img', { alt: '', loading: 'lazy', decoding: 'async' });
  const missing = h(
    'span',
    { class: 'words' },
    `File not found: ${decodeURIComponent(row.picture?.path ?? row.id)}`,
  );
  picture.addEventListener('error', () => picture.replaceWith(missing), { once: true });
  // What stands in the page itself is printed also where nobody has scrolled to it.
  if (row.picture?.thumb?.startsWith('data:') === true) picture.loading = 'eager';
  if (setAddress(picture, row.picture?.thumb)) return picture;
  if (row.error !== undefined)
    return h(
      'span',
      { class: 'words' },
      h('b', {}, sentenceCase(statusLabel(row.status))),
      h('span', {}, row.error.message),
    );
  return h('span', { class: 'words output' }, row.output ?? 'No picture');
}

function rejectButton(row: PageRow, rejection: Rejection | undefined, actions: FrameActions): HTMLElement {
  const pressed = rejection !== undefined;
  return h(
    'button',
    {
      type: 'button',
      class: 'reject',
      'aria-pressed': String(pressed),
      tabindex: '-1',
      onclick: () => actions.toggle(),
    },
    pressed ? 'Rejected' : 'Reject',
    h('span', { class: 'unseen' }, ` ${row.id}`),
  );
}
