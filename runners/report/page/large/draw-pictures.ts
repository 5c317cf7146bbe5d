import type { EarlierPicture, PageReference, PageRow } from '../../page-data.js';
import { formatPrice } from '../../messages/format-amounts.js';
import { h, link, pencilCross, setAddress } from '../dom.js';

/** References and result, large. */
export function drawPictures(row: PageRow, compare: (on: boolean) => void): HTMLElement {
  const [first] = row.references;
  const file = row.picture?.path ?? row.picture?.thumb;
  const canCompare = file !== undefined && first?.thumb !== undefined;
  return h(
    'div',
    { class: 'stage' },
    row.references.length > 0 &&
      h(
        'div',
        { class: 'before' },
        ...row.references.map(drawReference),
        canCompare && compareButton(compare),
      ),
    h(
      'div',
      { class: 'after' },
      file === undefined
        ? drawWords(row)
        : largePicture(row.picture?.path, row.picture?.thumb, `Result of ${row.id}`),
      canCompare && h('div', { class: 'instead' }, largePicture(first.path, first.thumb, '')),
      pencilCross(),
    ),
  );
}

/** Pictures that have been replaced, the newest first. */
export function drawEarlier(earlier: readonly EarlierPicture[]): HTMLElement {
  return h('section', { class: 'earlier' }, h('h3', {}, 'Earlier versions'), ...earlier.map(drawOneEarlier));
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
      ? (atTheService(row) ?? h('pre', { tabindex: '0' }, row.output ?? 'No picture'))
      : h('p', {}, row.error.message),
    detail !== undefined && h('pre', { tabindex: '0' }, detail),
  );
}

function atTheService({ picture }: PageRow): HTMLElement | undefined {
  if (picture?.url === undefined) return undefined;
  return h('p', {}, 'The picture was left at the service: ', link(picture.url, 'open it'), '.');
}

/** The pointer holds it; the keyboard turns it on and off. */
function compareButton(compare: (on: boolean) => void): HTMLElement {
  const start = (): void => compare(true);
  const end = (): void => compare(false);
  let isOn = false;
  const toggle = (event: MouseEvent): void => {
    if (event.detail > 0) return;
    isOn = !isOn;
    button.setAttribute('aria-pressed', String(isOn));
    compare(isOn);
  };
  const button = h(
    'button',
    {
      type: 'button',
      class: 'compare',
      'aria-pressed': 'false',
      onclick: toggle,
      onpointerdown: start,
      onpointerup: end,
      onpointerleave: end,
      onblur: end,
    },
    'Hold to see the original',
    h('kbd', { 'aria-hidden': 'true' }, 'b'),
  );
  return button;
}
