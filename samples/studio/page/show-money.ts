import { formatUsd, type Money } from '../messages.js';
import { h } from './page-elements.js';

/** What was spent, what is reserved for jobs under way, and the cap of both. */
export function showMoney(place: HTMLElement, { capUsd, spentUsd, heldUsd }: Money): void {
  const meter = h('meter', {
    min: '0',
    max: String(capUsd),
    value: String(spentUsd + heldUsd),
    'aria-label': 'Spent and reserved, of what may be spent',
  });
  const held = heldUsd > 0 ? `, ${formatUsd(heldUsd)} reserved` : '';
  place.replaceChildren(
    h('p', {}, h('b', {}, formatUsd(spentUsd)), ` spent${held}, of ${formatUsd(capUsd)}`),
    meter,
  );
}
