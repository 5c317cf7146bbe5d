import { formatMoney } from '../../../../src/contract/micro-dollars.js';
import { shellWords } from '../../../batch/manifest/quote-value.js';
import { countOf, formatCount } from '../../messages/format-amounts.js';
import type { PageRow } from '../../page-data.js';
import { chosenFileName, chosenList } from '../../pick/chosen-list.js';
import { button, h, saveFile } from '../dom.js';
import { placesWith } from '../gallery/filter-rows.js';
import type { Gallery } from '../gallery/gallery.js';
import type { Page } from '../page.js';
import { promptOf } from '../rows/row-store.js';
import { type Review, type Verdict, axesOf, fitsCsv, redoCommand, redoManifest } from './redo-manifest.js';
import { canRepeat } from './reviews.js';

/** How many pictures are kept and rejected, the price of the redo, and the files to save. Hidden while there is no review. */
export class Tray {
  readonly #page: Page;
  readonly #gallery: Gallery;
  readonly #undo: () => void;
  readonly #sum = h('p', { role: 'status' });
  readonly #buttons = h('div', { class: 'ways' });
  /** What to do with the saved files: the latest of each kind. */
  readonly #saved = h('div', { class: 'saved' });
  readonly #tray: HTMLElement;
  #isAsked = false;
  /** All reviews were just cleared: this can be undone. */
  #isCleared = false;

  constructor(root: HTMLElement, page: Page, gallery: Gallery, undo: () => void) {
    [this.#page, this.#gallery, this.#undo] = [page, gallery, undo];
    const sums = h('div', { class: 'sums' }, this.#sum, this.#buttons);
    this.#tray = h('aside', { class: 'tray', 'aria-label': 'Review' }, sums, this.#saved);
    root.append(this.#tray);
    this.refresh();
  }

  refresh(): void {
    const { reviews, data } = this.#page;
    const [kept, rejected] = [reviews.withVerdict('kept'), reviews.withVerdict('rejected')];
    const selected = this.#gallery.selection.places.size;
    const hasAny = reviews.all.size > 0;
    if (hasAny) this.#isCleared = false;
    else this.#saved.replaceChildren();
    this.#isAsked = false;
    this.#tray.hidden = !hasAny && !this.#isCleared && selected === 0;
    if (selected > 0) return this.#showSelected(selected);
    const redo = rejected.length > 0 ? ` ${redoWords(rejected, data.run.isRehearsal)}` : '';
    const counts = [
      kept.length > 0 ? `${formatCount(kept.length)} kept` : '',
      rejected.length > 0 ? `${countOf(rejected.length, 'row')} rejected` : '',
    ].filter((words) => words !== '');
    this.#sum.replaceChildren(
      h(
        'b',
        {},
        hasAny
          ? counts.join(', ') ||
              countOf(reviews.all.size, 'row with notes or stars', 'rows with notes or stars')
          : 'Cleared',
      ),
      redo,
      reviews.isLost ? ' This browser keeps nothing for this page: save your lists before you close it.' : '',
    );
    this.#setButtons([
      kept.length > 0 && button(() => void this.#saveChosen(), { class: 'strong' }, 'Save chosen.csv'),
      rejected.length > 0 &&
        button(
          () => void this.#saveManifest(),
          { class: kept.length === 0 ? 'strong' : '' },
          'Save redo manifest',
        ),
      hasAny && button((event) => this.#askToClear(event.currentTarget as HTMLElement), {}, 'Clear'),
      this.#isCleared && button(this.#undo, {}, 'Undo'),
    ]);
  }

  #showSelected(count: number): void {
    const { cursor, selection } = this.#gallery;
    this.#sum.replaceChildren(h('b', {}, `${countOf(count, 'row')} selected`));
    this.#setButtons([
      button(() => void cursor.decide('kept'), { class: 'strong' }, 'Keep'),
      button(() => void cursor.decide('rejected'), {}, 'Reject'),
      button(() => void cursor.decide(null), {}, 'No verdict'),
      button(() => selection.clear(), {}, 'Unselect'),
    ]);
  }

  /** Unchanged buttons stay, and keep the focus. */
  #setButtons(wanted: readonly (HTMLButtonElement | false)[]): void {
    const next = wanted.filter((one) => one !== false);
    const now = [...this.#buttons.children].map(
      ({ textContent, className }) => `${className} ${textContent}`,
    );
    if (now.join('|') === next.map(({ textContent, className }) => `${className} ${textContent}`).join('|'))
      return;
    const hadFocus = this.#buttons.contains(document.activeElement);
    this.#buttons.replaceChildren(...next);
    if (hadFocus) next[0]?.focus({ preventScroll: true });
  }

  /** The first click asks for confirmation, the second clears. */
  #askToClear(asked: HTMLElement): void {
    const { reviews } = this.#page;
    if (!this.#isAsked) {
      this.#isAsked = true;
      asked.textContent = `Really clear ${countOf(reviews.all.size, 'row')}?`;
      return;
    }
    this.#isCleared = true;
    reviews.clear();
    this.#buttons.querySelector('button')?.focus();
  }

  async #saveChosen(): Promise<void> {
    const { data } = this.#page;
    const chosen = await this.#reviewed('kept');
    const name = chosenFileName(data.run.name);
    const rows = chosen.map(({ row, review }) => ({
      ...row,
      ...review,
      row: row.row,
      file: fileOf(row),
      prompt: promptOf(row) ?? '',
      axes: axesOf(row, data.run),
    }));
    saveFile(name, chosenList(rows), 'text/csv');
    this.#show(
      'chosen',
      `Saved ${name}. Copy the pictures:`,
      shellWords('millrace', 'pick', data.run.folder),
    );
  }

  async #saveManifest(): Promise<void> {
    const { run } = this.#page.data;
    const all = await this.#reviewed('rejected');
    const rejected = all.filter(({ row }) => canRepeat(row));
    if (rejected.length === 0)
      return this.#show(
        'redo',
        'These rows are too long to be redone from here: change them in the manifest.',
      );
    const wanted = run.manifestFormat;
    const format = wanted === 'csv' && !fitsCsv(rejected) ? 'jsonl' : wanted;
    const file = `${run.name.replace(/\.(csv|jsonl|ndjson)(\.gz)?$/i, '')}.redo.${format}`;
    saveFile(
      file,
      redoManifest(rejected, format, run.axes),
      format === 'csv' ? 'text/csv' : 'application/jsonl',
    );
    const left = all.length - rejected.length;
    const words = [
      `Saved ${file}.`,
      format === wanted
        ? ''
        : 'It is JSONL, because a text that begins like a formula would not survive a CSV.',
      left > 0 ? `${countOf(left, 'row')} too long to be redone from here.` : '',
      'Redo:',
    ];
    this.#show(
      'redo',
      words.filter((part) => part !== '').join(' '),
      redoCommand(
        file,
        rejected.map(({ review }) => review),
        run,
      ),
    );
  }

  /** Replaces the advice for the earlier file of this kind. */
  #show(kind: 'chosen' | 'redo', words: string, command?: string): void {
    const copy = { type: 'button', 'data-copy': command, 'aria-label': 'Copy the command' };
    const how = h(
      'div',
      { class: `how ${kind}` },
      h('p', {}, words),
      command !== undefined && h('code', { tabindex: '0' }, command),
      command !== undefined && h('button', copy, 'Copy'),
    );
    this.#saved.querySelector(`.${kind}`)?.remove();
    this.#saved.prepend(how);
    // In a small window the tray shows only a part of it.
    this.#tray.scrollTop = how.offsetTop + how.offsetHeight - this.#tray.clientHeight;
  }

  async #reviewed(verdict: Verdict): Promise<{ row: PageRow; review: Review }[]> {
    const { reviews, store } = this.#page;
    const rows = await store.load(placesWith(verdict, { reviews, store }));
    return rows.flatMap((row) => {
      const review = reviews.of(row);
      return review?.verdict === verdict ? [{ row, review }] : [];
    });
  }
}

/** The price of the command in the tray. */
function redoWords(rejected: readonly Review[], isRehearsal: boolean): string {
  if (isRehearsal) return 'Redo: rehearsal, nothing spent.';
  const known = rejected.reduce((total, { cost }) => total + (cost ?? 0), 0);
  const unpriced = rejected.filter(({ cost }) => cost === null).length;
  return `Redo: ${formatMoney(known)}${unpriced > 0 ? `, and ${unpriced} of unknown price` : ''}.`;
}

function fileOf({ picture }: PageRow): string {
  return picture?.path === undefined ? '' : decodeURIComponent(picture.path);
}
