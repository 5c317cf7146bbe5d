import type { PageRow } from '../../page-data.js';
import { button, h, keySign, link, pencilCross } from '../dom.js';
import { DecodedPictures, largePicture, Zoom } from './large-picture.js';
import { drawSavedFiles } from './saved-files.js';
import { formatMoney } from '../../../../src/contract/micro-dollars.js';

const modes = [
  ['beside', 'Beside', ''],
  ['slider', 'Slider', 'S'],
  ['overlay', 'Overlay', 'O'],
  ['alone', 'Alone', ''],
] as const;
type Mode = (typeof modes)[number][0];

const heldMs = 350;

/** The result at full size, with the original, an earlier version or another reference for comparison. */
export class PictureArea {
  readonly element = h('div', { class: 'view' });
  readonly pictures = new DecodedPictures();
  readonly zoom: Zoom;
  readonly #panes = h('div', { class: 'panes' });
  readonly #bar = h('div', { class: 'compare', role: 'group', 'aria-label': 'Compare' });
  readonly #fit = button(() => this.zoom.toggle(), { class: 'fit' });
  readonly #at = h('input', {
    type: 'range',
    min: '0',
    max: '100',
    value: '50',
    oninput: () => this.#showAt(),
  });
  #row: PageRow | undefined;
  #comparands: readonly Comparand[] = [];
  /** The chosen comparand; it stays chosen from row to row if the next row has it. */
  #chosen = 0;
  #mode: Mode = 'beside';
  #isFlipped = false;
  #pressedAt = 0;

  constructor() {
    this.zoom = new Zoom(this.#panes, (words) => {
      this.#fit.replaceChildren(words, keySign('Z'));
    });
    this.element.append(this.#panes, this.#bar);
    this.#showAt();
  }

  show(row: PageRow): void {
    const isOther = this.#row?.id !== row.id;
    this.#row = row;
    this.#comparands = comparandsOf(row);
    if (isOther) this.#isFlipped = false;
    this.#draw();
  }

  /** Shows the comparand instead of the result, and back. */
  flip(isFlipped = !this.#isFlipped): void {
    if (this.#comparand === undefined) return;
    this.#isFlipped = isFlipped;
    this.#showMode();
  }

  /** While the key is held, the comparand is shown; a short press shows it until the next press. */
  press(event: KeyboardEvent): void {
    if (event.repeat) return;
    if (event.type === 'keydown') {
      this.#pressedAt = event.timeStamp;
      this.flip();
    } else if (event.timeStamp - this.#pressedAt > heldMs) this.flip(false);
  }

  setMode(mode: Mode): void {
    if (this.#comparand === undefined) return;
    this.#mode = this.#mode === mode ? 'beside' : mode;
    this.#isFlipped = false;
    this.#showMode();
  }

  /** Chooses the next reference or version for comparison. */
  nextComparand(): void {
    const count = this.#comparands.length;
    if (count === 0) return;
    this.#chosen = (this.#index + 1) % count;
    this.#draw();
  }

  /** Moves the slider, or changes the opacity of the other picture. */
  shift(by: number): void {
    this.#at.value = String(Number(this.#at.value) + by);
    this.#showAt();
  }

  get #index(): number {
    return Math.min(this.#chosen, this.#comparands.length - 1);
  }

  get #comparand(): Comparand | undefined {
    return this.#hasPicture ? this.#comparands[this.#index] : undefined;
  }

  get #hasPicture(): boolean {
    return (this.#row?.picture?.path ?? this.#row?.picture?.thumb) !== undefined;
  }

  #draw(): void {
    const row = this.#row;
    if (row === undefined) return;
    const other = this.#comparands[this.#index];
    const content = this.#hasPicture
      ? this.pictures.take(row.picture?.path, row.picture?.thumb, `Result of ${row.id}`)
      : drawWords(row);
    const now = h('div', { class: 'pane now' }, h('div', { class: 'sheet-of' }, content), pencilCross());
    this.#panes.replaceChildren(now);
    // The result is on the page by now: an earlier version with the same file gets a picture of its own.
    if (other !== undefined)
      this.#panes.prepend(
        h(
          'div',
          { class: 'pane other' },
          h('div', { class: 'sheet-of' }, this.pictures.take(other.path, other.thumb, other.label)),
          h('p', { class: 'caption' }, other.label),
        ),
      );
    const picture = this.#hasPicture ? now.querySelector('img') : null;
    picture?.addEventListener('load', () => this.zoom.apply(), { once: true });
    this.#drawBar(row);
    this.#showMode();
    this.zoom.apply();
  }

  #drawBar(row: PageRow): void {
    const elsewhere = row.references.filter(({ url, thumb }) => url !== undefined || thumb === undefined);
    const choices = this.#comparands.map(({ label, thumb }, index) =>
      button(
        () => ((this.#chosen = index), this.#draw()),
        { class: 'choice', 'aria-pressed': String(index === this.#index), title: label },
        thumb === undefined ? label : largePicture(thumb, undefined, label),
      ),
    );
    const ways =
      this.#comparand === undefined
        ? []
        : modes.map(([mode, label, key]) =>
            button(() => this.setMode(mode), { 'data-mode': mode }, label, key !== '' && keySign(key)),
          );
    this.#bar.replaceChildren(
      ...choices,
      ...elsewhere.map(({ url, name }) => link(url, `${name} ↗`, { class: 'elsewhere', title: name })),
      ...(this.#comparand === undefined ? [] : [this.#flipButton()]),
      ...ways,
      this.#at,
      ...(this.#hasPicture ? [this.#fit] : []),
    );
  }

  #flipButton(): HTMLElement {
    const what = /^[^:,]+/.exec(this.#comparand?.label ?? 'original')?.[0].toLowerCase();
    return button(() => this.flip(), { class: 'flip' }, `Show the ${what}`, keySign('B'));
  }

  #showMode(): void {
    const mode = this.#comparand === undefined ? 'beside' : this.#mode;
    this.#panes.dataset['mode'] = mode;
    this.#panes.classList.toggle('flipped', this.#isFlipped);
    const isShifted = mode === 'slider' || mode === 'overlay';
    this.#at.hidden = !isShifted;
    this.#at.setAttribute(
      'aria-label',
      mode === 'slider' ? 'Where the pictures meet' : 'How much of the other picture is seen',
    );
    for (const button of this.#bar.querySelectorAll<HTMLElement>('[data-mode]'))
      button.setAttribute('aria-pressed', String(button.dataset['mode'] === mode));
    this.#bar.querySelector('.flip')?.setAttribute('aria-pressed', String(this.#isFlipped));
  }

  #showAt(): void {
    this.#panes.style.setProperty('--at', `${this.#at.value}%`);
    this.#panes.style.setProperty('--see', String(Number(this.#at.value) / 100));
  }
}

function drawWords(row: PageRow): HTMLElement {
  const detail = row.error?.detail;
  return h(
    'div',
    { class: 'words' },
    row.error === undefined
      ? (drawSavedFiles(row) ?? atTheService(row) ?? h('pre', { tabindex: '0' }, row.output ?? 'No picture'))
      : h('p', {}, row.error.message),
    detail !== undefined && h('pre', { tabindex: '0' }, detail),
  );
}

function atTheService({ picture }: PageRow): HTMLElement | undefined {
  if (picture?.url === undefined) return undefined;
  return h('p', {}, 'The picture was left at the service: ', link(picture.url, 'open it'), '.');
}

/** A picture to compare the result with. */
interface Comparand {
  readonly label: string;
  readonly path: string | undefined;
  readonly thumb: string | undefined;
}

/** The original, earlier versions (the newest first), and the other references. */
function comparandsOf(row: PageRow): Comparand[] {
  const references = row.references
    .filter(({ thumb, path }) => (thumb ?? path) !== undefined)
    .map(({ name, path, thumb }, index) => ({
      label: `${index === 0 ? 'Original' : 'Reference'}: ${name}${path === undefined ? ' (small copy)' : ''}`,
      path,
      thumb,
    }));
  const versions = (row.earlier ?? []).map(({ path, thumb, prompt, resolution, cost }) => ({
    label: [
      'Earlier version',
      prompt,
      resolution,
      cost === undefined || cost === null ? '' : formatMoney(cost),
    ]
      .filter((part) => part !== undefined && part !== '')
      .join(', '),
    path,
    thumb,
  }));
  return [...references.slice(0, 1), ...versions, ...references.slice(1)];
}
