import { type CardState, formatUsd, isEnded } from '../messages.js';
import type { Order } from './compose-orders.js';
import { h } from './page-elements.js';

export interface Card {
  readonly element: HTMLElement;
  readonly close: HTMLButtonElement;
  /** Shows how the order stands; called with the same state again, only the clock goes on. */
  show(state: CardState): void;
}

const steps = [
  ['queued', 'Queued'],
  ['working', 'Working'],
  ['done', 'Done'],
] as const;

/** A job as a card: the picture, what becomes of it, and what it costs. */
export function drawCard({ picture, prompt, resolution }: Order): Card {
  const since = performance.now();
  const { name } = picture.file;
  const close = h('button', { type: 'button', class: 'close' }, '×');
  const result = h('div', { class: 'result' });
  const track = h('ol', { class: 'track' }, ...steps.map(([, label]) => h('li', {}, label)));
  const facts = h('p', { class: 'facts' });
  const words = h('p', { class: 'words' });
  const pictures = h(
    'div',
    { class: 'pictures' },
    h('img', { src: picture.url, alt: `${name}, as it was` }),
    result,
  );
  const text = h('p', { class: 'prompt' }, prompt);
  const element = h('li', { class: 'card' }, pictures, close, track, text, words, facts);
  let shown: CardState | undefined;
  return {
    element,
    close,
    show(state) {
      facts.textContent = [resolution, ...factsOf(state, performance.now() - since)].join(' · ');
      if (state === shown) return;
      shown = state;
      element.dataset['phase'] = state.phase;
      close.setAttribute('aria-label', `${isEnded(state) ? 'Remove' : 'Cancel'} ${name}`);
      close.title = isEnded(state) ? 'Remove' : 'Cancel';
      words.textContent = 'words' in state ? (state.words ?? '') : '';
      track.hidden = state.phase === 'failed';
      const at = steps.findIndex(([phase]) => phase === state.phase);
      [...track.children].forEach((step, index) => {
        step.classList.toggle('past', index <= at);
        if (index === at) step.setAttribute('aria-current', 'step');
        else step.removeAttribute('aria-current');
      });
      if (state.phase === 'done') result.replaceChildren(drawResult(state.imageUrl, `${name}: ${prompt}`));
    },
  };
}

function drawResult(address: string, alt: string): HTMLElement {
  // Nothing but a picture on the web is shown or opened: an address is what the service says.
  const isWeb = /^https?:\/\//i.test(address);
  if (!isWeb) return h('p', {}, 'The address of the picture is none that can be opened.');
  const image = h('img', { src: address, alt });
  return h(
    'a',
    { href: address, target: '_blank', rel: 'noreferrer noopener', title: 'Open the picture' },
    image,
  );
}

function factsOf(state: CardState, elapsedMs: number): string[] {
  if (state.phase === 'failed') return [];
  if (state.phase !== 'done') return [seconds(elapsedMs)];
  const { waitedMs, workedMs, costUsd } = state;
  return [
    ...(waitedMs === undefined ? [] : [`waited ${seconds(waitedMs)}`]),
    ...(workedMs === undefined ? [] : [`worked ${seconds(workedMs)}`]),
    costUsd === null ? 'no price told' : formatUsd(costUsd),
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
