import type { EarlierPicture, PageReference, PageRow } from '../../page-data.js';
import { formatPrice } from '../../messages/format-amounts.js';
import { h, link, pencilCross, setAddress } from '../dom.js';

/** References and result, large. */
export function drawPictures(row: PageRow, compare: (on: boolean) => void): HTMLElement {
  const [first] = row.references;
  const canCompare = row.picture !== undefined && first?.thumb !== undefined;
  return h(
    'div',
    { class: 'stage' },
    row.references.length > 0 && h('div', { class: 'before' }, ...row.references.map(drawReference)),
    h(
      'div',
      { class: 'after' },
      row.picture === undefined
        ? drawWords(row)
        : largePicture(row.picture.path, row.picture.thumb, `Result of ${row.id}`),
      canCompare && h('div', { class: 'instead' }, largePicture(first.path, first.thumb, '')),
      pencilCross(),
    ),
    canCompare && compareButton(compare),
  );
}

/** Pictures that have been replaced, the newest first. */
export function drawEarlier(earlier: readonly EarlierPicture[]): HTMLElement {
  return h('section', { class: 'earlier' }, h('h3', {}, 'Before this one'), ...earlier.map(drawOneEarlier));
}

function drawOneEarlier(picture: EarlierPicture): HTMLElement {
  const cost = picture.cost === undefined || picture.cost === null ? undefined : formatPrice(picture.cost);
  const facts = [picture.resolution, cost].filter((fact) => fact !== undefined).join(', ');
  const anchor = link(picture.path, '', { 'aria-label': 'Open the earlier picture' });
  anchor.replaceChildren(largePicture(picture.thumb, picture.path, ''));
  return h('figure', {}, anchor, h('figcaption', {}, picture.prompt ?? '', h('span', {}, facts)));
}

function drawReference(reference: PageReference): HTMLElement {
  if (reference.thumb === undefined) {
    const where = reference.url === undefined ? 'not found' : 'on the web';
    return h(
      'figure',
      { class: 'elsewhere' },
      h('p', {}, link(reference.url, reference.name)),
      h('figcaption', {}, where),
    );
  }
  return h(
    'figure',
    {},
    largePicture(reference.path, reference.thumb, `Reference ${reference.name}`),
    h('figcaption', {}, reference.name),
  );
}

/** The file itself, and its thumbnail where the page has been moved away from it. */
function largePicture(path: string | undefined, thumb: string | undefined, alt: string): HTMLElement {
  const picture = h('img', { alt, decoding: 'async' });
  picture.addEventListener('error', () => setAddress(picture, thumb), { once: true });
  if (!setAddress(picture, path)) setAddress(picture, thumb);
  return picture;
}

function drawWords(row: PageRow): HTMLElement {
  const detail = row.error?.detail;
  return h(
    'div',
    { class: 'words' },
    row.error === undefined
      ? h('pre', { tabindex: '0' }, row.output ?? 'No picture')
      : h('p', {}, row.error.message),
    detail !== undefined && h('pre', { tabindex: '0' }, detail),
  );
}

function compareButton(compare: (on: boolean) => void): HTMLElement {
  const start = (): void => compare(true);
  const end = (): void => compare(false);
  return h(
    'button',
    {
      type: 'button',
      class: 'compare',
      onpointerdown: start,
      onpointerup: end,
      onpointerleave: end,
      onblur: end,
    },
    'Hold to see the reference',
    h('kbd', { 'aria-hidden': 'true' }, 'b'),
  );
}
