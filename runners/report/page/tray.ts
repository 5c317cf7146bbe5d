import { countOf, formatSum } from '../messages/format-amounts.js';
import { h } from './dom.js';
import type { Page } from './page.js';
import { fitsCsv, redoCommand, redoManifest, type RejectedRow } from './redo-manifest.js';

/** What has been rejected, what repeating it costs, and the way to do it. Hidden as long as nothing is. */
export function createTray(
  root: HTMLElement,
  page: Page,
  showRejected: () => void,
): { refresh(): void; download(): void } {
  const sum = h('p', { role: 'status' });
  const command = h('code', { tabindex: '0' });
  const note = h('p', { class: 'note' });
  const copyButton = h('button', { type: 'button' }, 'Copy');
  const how = h(
    'div',
    { class: 'how', hidden: true },
    h('p', {}, 'Saved. Now run:'),
    command,
    copyButton,
    note,
  );
  const tray = h(
    'aside',
    { class: 'tray', 'aria-label': 'Rejected rows', hidden: true },
    h(
      'div',
      { class: 'sums' },
      sum,
      h('button', { type: 'button', class: 'strong', onclick: () => void download() }, 'Download manifest'),
      h('button', { type: 'button', onclick: showRejected }, 'Show them'),
      h('button', { type: 'button', onclick: () => page.rejections.clear() }, 'Clear'),
    ),
    how,
  );
  root.append(tray);

  async function download(): Promise<void> {
    const rejected = await rejectedRows(page);
    if (rejected.length === 0) return;
    const wanted = page.data.run.manifestFormat;
    const format = wanted === 'csv' && !fitsCsv(rejected) ? 'jsonl' : wanted;
    const file = `${page.data.run.name.replace(/\.(csv|jsonl|ndjson)(\.gz)?$/i, '')}.redo.${format}`;
    save(file, redoManifest(rejected, format), format === 'csv' ? 'text/csv' : 'application/jsonl');
    command.textContent = redoCommand(file, page.rejections.all.values(), page.data.run);
    copyButton.dataset['copy'] = command.textContent;
    copyButton.textContent = 'Copy';
    note.textContent = notesOn(rejected, format !== wanted).join(' ');
    how.hidden = false;
  }

  function refresh(): void {
    const rejections = [...page.rejections.all.values()];
    tray.hidden = rejections.length === 0;
    if (rejections.length === 0) how.hidden = true;
    const known = rejections.reduce((total, { cost }) => total + (cost ?? 0), 0);
    const unpriced = rejections.filter(({ cost }) => cost === null).length;
    const more = unpriced > 0 ? `, and ${unpriced} of unknown price` : '';
    sum.replaceChildren(
      h('b', {}, `${countOf(rejections.length, 'row')} rejected`),
      ` Repeating ${rejections.length === 1 ? 'it' : 'them'} costs ${formatSum(known)}${more}.`,
    );
  }

  return { refresh, download: () => void download() };
}

function notesOn(rejected: readonly RejectedRow[], isOtherFormat: boolean): string[] {
  const hasPaths = rejected.some(({ row }) => hasPath(row.cells?.['images']));
  return [
    hasPaths ? 'Its pictures are paths: keep it in the folder of the manifest.' : '',
    isOtherFormat ? 'It is JSONL, because a text that begins like a formula would not survive a CSV.' : '',
  ].filter((note) => note !== '');
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
