import { h } from './dom.js';
import { keyList } from './keyboard.js';

/** The list of keys, in a dialog of its own. */
export function openKeyHelp(): void {
  const close = h('button', { type: 'button', onclick: () => dialog.close() }, 'Close', h('kbd', {}, 'Esc'));
  const groups = keyList.map(([heading, keys]) =>
    h(
      'section',
      {},
      h('h3', {}, heading),
      h('dl', {}, ...keys.flatMap(([key, does]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, does)])),
    ),
  );
  const dialog = h(
    'dialog',
    { class: 'key-help', 'aria-labelledby': 'key-help' },
    h('h2', { id: 'key-help' }, 'Keys'),
    ...groups,
    close,
  );
  const before = document.activeElement;
  dialog.addEventListener('close', () => {
    dialog.remove();
    if (before instanceof HTMLElement) before.focus();
  });
  document.body.append(dialog);
  dialog.showModal();
}
