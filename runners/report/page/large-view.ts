import type { EarlierPicture, PageReference, PageRow } from '../page-data.js';
import { formatCount, formatPrice, formatSpan } from '../words/amounts.js';
import { h, link, setAddress } from './dom.js';
import { statusLabel } from './filter-rows.js';
import { cross } from './frame.js';
import { canRepeat, priceOf, resolutionOf } from './marks.js';
import type { Page } from './page.js';
import { promptOf } from './row-store.js';

export interface LargeView {
  readonly isOpen: boolean;
  open(index: number): void;
  close(): void;
  step(by: number): void;
  toggle(): void;
  editPrompt(): void;
  /** Puts the reference in the place of the result as long as it is asked for. */
  compare(on: boolean): void;
  refresh(): void;
}

export interface LargeViewNeeds {
  /** The row before or after, among those found. */
  neighbour(index: number, by: number): number | undefined;
  closed(index: number): void;
}

/** One row at full size: references and result, what was asked for, what it cost, and what to ask for next time. */
export function createLargeView(root: HTMLElement, page: Page, needs: LargeViewNeeds): LargeView {
  const dialog = h('dialog', {
    class: 'large',
    'aria-label': 'Large view',
    oncancel: (event: Event) => (event.preventDefault(), view.close()),
  });
  root.replaceChildren(dialog);
  let index = -1;
  let row: PageRow | undefined;

  async function load(to: number): Promise<void> {
    index = to;
    const [loaded] = await page.store.load([to]);
    if (loaded === undefined || index !== to) return;
    row = loaded;
    draw();
    if (!dialog.open) dialog.showModal();
    dialog.querySelector<HTMLElement>('.close')?.focus();
  }

  function draw(): void {
    if (row === undefined) return;
    const mark = page.marks.of(row);
    dialog.classList.toggle('rejected', mark !== undefined);
    dialog.replaceChildren(drawStage(row), drawPanel(row));
  }

  function drawStage(shown: PageRow): HTMLElement {
    const after =
      shown.picture === undefined
        ? drawWords(shown)
        : largePicture(shown.picture.path, shown.picture.thumb, `Result of ${shown.id}`);
    return h(
      'div',
      { class: 'stage' },
      shown.references.length > 0 && h('div', { class: 'before' }, ...shown.references.map(drawReference)),
      h('div', { class: 'after' }, after, cross()),
    );
  }

  function drawPanel(shown: PageRow): HTMLElement {
    return h(
      'div',
      { class: 'panel' },
      h(
        'div',
        { class: 'steps' },
        stepButton('Previous', '←', -1),
        stepButton('Next', '→', 1),
        h('span', { class: 'number' }, shown.row),
        h(
          'button',
          { type: 'button', class: 'close', 'aria-label': 'Close', onclick: () => view.close() },
          'Close',
          h('kbd', { 'aria-hidden': 'true' }, 'esc'),
        ),
      ),
      h('h2', {}, shown.id),
      drawStatus(shown),
      canRepeat(shown) ? drawForm(shown) : drawPromptOnly(shown),
      drawFacts(shown),
      (shown.earlier?.length ?? 0) > 0 && drawEarlier(shown.earlier ?? []),
    );
  }

  function stepButton(label: string, sign: string, by: number): HTMLElement {
    const isEnd = needs.neighbour(index, by) === undefined;
    return h(
      'button',
      { type: 'button', 'aria-label': label, disabled: isEnd, onclick: () => view.step(by) },
      sign,
    );
  }

  function drawForm(shown: PageRow): HTMLElement {
    const mark = page.marks.of(shown);
    const prompt = mark?.prompt ?? promptOf(shown);
    const area = h('textarea', {
      id: 'next-prompt',
      rows: 4,
      spellcheck: 'true',
      oninput: () => page.marks.change(shown, index, { prompt: area.value }),
    });
    area.value = prompt ?? '';
    const toggle = h(
      'button',
      {
        type: 'button',
        class: 'reject',
        'aria-pressed': String(mark !== undefined),
        onclick: () => view.toggle(),
      },
      mark === undefined ? 'Reject' : 'Rejected',
      h('kbd', { 'aria-hidden': 'true' }, 'x'),
    );
    return h(
      'form',
      { class: 'next', onsubmit: (event: Event) => event.preventDefault() },
      prompt !== undefined && h('label', { for: 'next-prompt' }, 'Prompt'),
      prompt !== undefined && area,
      shown.kind === 'edit' && drawResolutions(shown, mark?.resolution ?? resolutionOf(shown) ?? '1k'),
      h('p', { class: 'decide' }, toggle, h('span', { class: 'price' }, priceWords(shown))),
    );
  }

  function drawResolutions(shown: PageRow, chosen: string): HTMLElement {
    const choices = ['1k', '2k', '4k'].map((resolution) => {
      const input = h('input', {
        type: 'radio',
        name: 'resolution',
        value: resolution,
        checked: resolution === chosen,
        onchange: () => page.marks.change(shown, index, { resolution }),
      });
      return h('label', {}, input, h('span', {}, resolution));
    });
    return h('fieldset', { class: 'resolutions' }, h('legend', {}, 'Resolution'), ...choices);
  }

  function priceWords(shown: PageRow): string {
    const mark = page.marks.of(shown);
    const price = mark === undefined ? priceOf(shown, undefined, page.data.prices) : mark.cost;
    return price === null ? 'The price of a repeat is not known.' : `A repeat costs ${formatPrice(price)}.`;
  }

  const view: LargeView = {
    get isOpen() {
      return dialog.open;
    },
    open: (to) => void load(to),
    close() {
      if (!dialog.open) return;
      dialog.close();
      needs.closed(index);
    },
    step(by) {
      const to = needs.neighbour(index, by);
      if (to !== undefined) void load(to);
    },
    toggle() {
      if (row !== undefined && canRepeat(row)) page.marks.toggle(row, index);
    },
    editPrompt: () => dialog.querySelector<HTMLElement>('textarea')?.focus(),
    compare: (on) => dialog.classList.toggle('comparing', on),
    refresh() {
      if (!dialog.open || row === undefined) return;
      const mark = page.marks.of(row);
      dialog.classList.toggle('rejected', mark !== undefined);
      const button = dialog.querySelector('.reject');
      button?.setAttribute('aria-pressed', String(mark !== undefined));
      button?.firstChild?.replaceWith(mark === undefined ? 'Reject' : 'Rejected');
      const price = dialog.querySelector('.price');
      if (price !== null) price.textContent = priceWords(row);
    },
  };
  return view;
}

function drawReference(reference: PageReference): HTMLElement {
  if (reference.thumb === undefined)
    return h(
      'figure',
      { class: 'elsewhere' },
      h('p', {}, link(reference.url, reference.name)),
      h('figcaption', {}, reference.url === undefined ? 'not found' : 'on the web'),
    );
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
  return h(
    'div',
    { class: 'words' },
    row.error === undefined ? h('pre', {}, row.output ?? 'No picture') : h('p', {}, row.error.message),
    row.error?.detail !== undefined && h('pre', { tabindex: '0' }, row.error.detail),
  );
}

function drawPromptOnly(row: PageRow): HTMLElement {
  const why =
    row.error !== undefined && row.error.paid !== 'no'
      ? 'This row may be paid for: it is settled or taken up by the run itself.'
      : 'This row is too long to be repeated from here; repeat it from its manifest.';
  return h('div', { class: 'next' }, h('p', {}, promptOf(row) ?? ''), h('p', { class: 'price' }, why));
}

function drawStatus(row: PageRow): HTMLElement {
  const paid = { no: 'not charged', maybe: 'may have been charged', yes: 'charged' } as const;
  const state = row.status === 'completed' ? 'completed' : row.status === 'unknown' ? 'held' : 'failed';
  const money =
    row.error !== undefined
      ? paid[row.error.paid]
      : row.cost === undefined || row.cost === null
        ? 'cost not reported'
        : formatPrice(row.cost);
  return h(
    'p',
    { class: 'status' },
    h('i', { class: `dot ${state}` }),
    statusLabel(row.status),
    h('span', {}, money),
  );
}

function drawFacts(row: PageRow): HTMLElement {
  const parameters = Object.entries(row.cells ?? {}).filter(
    ([name]) => !['id', 'kind', 'endpoint', 'images', 'prompt'].includes(name),
  );
  const facts: [string, string | HTMLElement | undefined][] = [
    ...parameters.map(([name, value]): [string, string] => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    ['in the queue', row.delayTime === undefined ? undefined : formatSpan(row.delayTime)],
    ['at work', row.executionTime === undefined ? undefined : formatSpan(row.executionTime)],
    ['ended', row.settledAt === undefined ? undefined : dated(row.settledAt)],
    ['endpoint', row.endpoint],
    ['job', row.jobId],
    ['attempts', row.attempts === undefined || row.attempts === 1 ? undefined : formatCount(row.attempts)],
    ['HTTP', row.error?.httpStatus === undefined ? undefined : String(row.error.httpStatus)],
    [
      'file',
      row.picture?.path === undefined
        ? undefined
        : link(row.picture.path, decodeURIComponent(row.picture.path)),
    ],
    [
      'at the service',
      row.picture?.url === undefined
        ? undefined
        : link(
            row.picture.url,
            row.picture.expiresAt === undefined ? 'open' : `until ${dated(row.picture.expiresAt)}`,
          ),
    ],
  ];
  return h(
    'dl',
    { class: 'facts' },
    ...facts.flatMap(([name, value]) => (value === undefined ? [] : [h('dt', {}, name), h('dd', {}, value)])),
  );
}

function drawEarlier(earlier: readonly EarlierPicture[]): HTMLElement {
  const figures = earlier.map((picture) => {
    const image = largePicture(picture.thumb, picture.path, 'Earlier picture');
    return h(
      'figure',
      {},
      picture.path === undefined ? image : withLink(picture.path, image),
      h(
        'figcaption',
        {},
        picture.prompt ?? '',
        h(
          'span',
          {},
          [
            picture.resolution,
            picture.cost === undefined || picture.cost === null ? undefined : formatPrice(picture.cost),
          ]
            .filter((part) => part !== undefined)
            .join(', '),
        ),
      ),
    );
  });
  return h('section', { class: 'earlier' }, h('h3', {}, 'Before this one'), ...figures);
}

function withLink(path: string, image: HTMLElement): HTMLElement {
  const anchor = link(path, '', { 'aria-label': 'Open the earlier picture' });
  anchor.replaceChildren(image);
  return anchor;
}

function dated(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime())
    ? iso
    : at.toLocaleString('en-GB', {
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
        second: '2-digit',
      });
}
