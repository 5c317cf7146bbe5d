import { countOf, formatPrice } from '../messages/format-amounts.js';
import { h } from './dom.js';
import type { Page } from './page.js';
import { fitsCsv, redoCommand, redoManifest, type RejectedRow, type Rejection } from './redo-manifest.js';

/** What has been rejected, what repeating it costs, and the way to do it. Hidden as long as nothing is. */
export class Tray {
  readonly #page: Page;
  readonly #sum = h('p', { role: 'status' });
  readonly #ways: readonly HTMLButtonElement[];
  readonly #clear = h('button', { type: 'button', onclick: () => this.#askToClear() }, 'Clear');
  readonly #undo = h('button', { type: 'button', onclick: () => void this.#page.rejections.undo() }, 'Undo');
  readonly #saved = h('p', {});
  readonly #command = h('code', { tabindex: '0' });
  readonly #copy = h('button', { type: 'button' }, 'Copy');
  readonly #note = h('p', { class: 'note' });
  readonly #how: HTMLElement;
  readonly #tray: HTMLElement;
  #isAsked = false;
  /** All have just been cleared: that can be taken back. */
  #isCleared = false;

  constructor(root: HTMLElement, page: Page, showRejected: () => void) {
    this.#page = page;
    const download = (): void => void this.#download();
    this.#ways = [
      h('button', { type: 'button', class: 'strong', onclick: download }, 'Download manifest'),
      h('button', { type: 'button', onclick: showRejected }, 'Show them'),
      this.#clear,
    ];
    const sums = h('div', { class: 'sums' }, this.#sum, ...this.#ways, this.#undo);
    this.#how = h('div', { class: 'how' }, this.#saved, this.#command, this.#copy, this.#note);
    this.#tray = h('aside', { class: 'tray', 'aria-label': 'Rejected rows' }, sums, this.#how);
    this.#how.hidden = true;
    root.append(this.#tray);
    this.refresh();
  }

  refresh(): void {
    const rejections = [...this.#page.rejections.all.values()];
    const count = rejections.length;
    this.#isAsked = false;
    if (count > 0) this.#isCleared = false;
    this.#clear.textContent = 'Clear';
    this.#tray.hidden = count === 0 && !this.#isCleared;
    for (const button of this.#ways) button.hidden = count === 0;
    this.#undo.hidden = !this.#isCleared;
    if (count === 0) this.#how.hidden = true;
    this.#sum.replaceChildren(
      h('b', {}, count === 0 ? 'Cleared' : `${countOf(count, 'row')} rejected`),
      count === 0 ? '' : ` ${redoWords(rejections, this.#page.data.run.isRehearsal)}`,
    );
  }

  /** The first click asks, the second clears. */
  #askToClear(): void {
    if (this.#isAsked) {
      this.#isCleared = true;
      this.#page.rejections.clear();
      this.#undo.focus();
      return;
    }
    this.#isAsked = true;
    this.#clear.textContent = `Really clear ${countOf(this.#page.rejections.all.size, 'rejection')}?`;
  }

  async #download(): Promise<void> {
    const page = this.#page;
    const rejected = await rejectedRows(page);
    if (rejected.length === 0) return;
    const wanted = page.data.run.manifestFormat;
    const format = wanted === 'csv' && !fitsCsv(rejected) ? 'jsonl' : wanted;
    const file = `${page.data.run.name.replace(/\.(csv|jsonl|ndjson)(\.gz)?$/i, '')}.redo.${format}`;
    save(file, redoManifest(rejected, format), format === 'csv' ? 'text/csv' : 'application/jsonl');
    const hasPaths = rejected.some(({ row }) => hasPath(row.cells?.['images']));
    this.#saved.textContent = `Saved ${file}. ${hasPaths ? 'Move it next to your manifest and run:' : 'Now run:'}`;
    this.#command.textContent = redoCommand(file, page.rejections.all.values(), page.data.run);
    this.#copy.dataset['copy'] = this.#command.textContent;
    this.#note.textContent = notesOn(format !== wanted);
    this.#how.hidden = false;
  }
}

/** What the command that the tray gives costs. */
function redoWords(rejections: readonly Rejection[], isRehearsal: boolean): string {
  if (isRehearsal) return 'Redo: rehearsal, nothing spent.';
  const known = rejections.reduce((total, { cost }) => total + (cost ?? 0), 0);
  const unpriced = rejections.filter(({ cost }) => cost === null).length;
  return `Redo: ${formatPrice(known)}${unpriced > 0 ? `, and ${unpriced} of unknown price` : ''}.`;
}

function notesOn(isOtherFormat: boolean): string {
  return isOtherFormat
    ? 'It is JSONL, because a text that begins like a formula would not survive a CSV.'
    : '';
}

function hasPath(images: unknown): boolean {
  const names = Array.isArray(images) ? images : typeof images === 'string' ? images.split(/[\s|]+/) : [];
  return names.some((name) => typeof name === 'string' && name !== '' && !/^[a-z][a-z\d+.-]+:/i.test(name));
}

async function rejectedRows({ rejections, store }: Page): Promise<RejectedRow[]> {
  const places = [...rejections.all.values()]
    .flatMap(({ row }) => store.placeOf(row) ?? [])
    .sort((a, b) => a - b);
  const rows = await store.load(places);
  return rows.flatMap((row) => {
    const rejection = rejections.of(row);
    return rejection === undefined ? [] : [{ row, rejection }];
  });
}

function save(name: string, text: string, type: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const anchor = document.createElement('a');
  anchor.href = address;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
