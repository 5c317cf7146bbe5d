import { formatUsd, type Money } from '../messages.js';
import { h } from './page-elements.js';

/** What was spent, what is reserved for jobs under way, and the cap of both. */
export function showMoney(place: HTMLElement, { capUsd, spentUsd, heldUsd, isRehearsal }: Money): void {
  const meter = h('meter', {
    min: '0',
    max: String(capUsd),
    value: String(spentUsd + heldUsd),
    'aria-label': 'Spent and reserved, of what may be spent',
  });
  const held = heldUsd > 0 ? `, ${formatUsd(heldUsd)} reserved` : '';
  const words = isRehearsal
    ? [h('b', {}, 'Rehearsal, nothing spent.'), ` A real service: ${formatUsd(spentUsd)}`]
    : [h('b', {}, formatUsd(spentUsd)), ' spent'];
  place.replaceChildren(h('p', {}, ...words, `${held}, of ${formatUsd(capUsd)}`), meter);
}
