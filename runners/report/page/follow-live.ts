import type { FlightUpdate, LiveUpdate } from '../page-data.js';
import { formatSpan } from '../messages/format-amounts.js';

/** Takes the updates of a server that watches a run, and says when it is gone. The browser reconnects by itself. */
export function followLive(take: (update: LiveUpdate) => void): void {
  const state = document.getElementById('live');
  if (state === null) return;
  const events = new EventSource('events');
  events.addEventListener('update', (event: MessageEvent<string>) => {
    take(JSON.parse(event.data) as LiveUpdate);
    tick();
  });
  events.addEventListener('flight', (event: MessageEvent<string>) => {
    updatePart('flight', (JSON.parse(event.data) as FlightUpdate).flight);
    tick();
  });
  tick();
  setInterval(tick, 1000);
  const show = (isLost: boolean): void => {
    state.classList.toggle('lost', isLost);
    state.textContent = isLost ? 'Not connected: the watch has ended, or is being started again' : 'Live';
  };
  events.addEventListener('open', () => show(false));
  events.addEventListener('error', () => show(true));
}

/** Lets the clocks of rows in flight go on between two updates. */
function tick(): void {
  for (const clock of document.querySelectorAll<HTMLElement>('[data-since]')) {
    const seconds = Math.max(0, Math.round((Date.now() - Number(clock.dataset['since'])) / 1000));
    clock.textContent = seconds < 1 ? 'now' : formatSpan(seconds * 1000).replace('.0 s', ' s');
  }
}

/**
 * Brings a part of the page up to date, section by section: one that says the same stays as it is, one in which text is
 * selected waits for the next update, and the focus stays where it was.
 */
export function updatePart(id: string, html: string): void {
  const place = document.getElementById(id);
  if (place === null) return;
  const fresh = document.createElement('template');
  fresh.innerHTML = html;
  const [old, next] = [[...place.children], [...fresh.content.children]];
  const opened = new Set(
    [...place.querySelectorAll('details[open]')].map((one) => one.querySelector('summary')?.textContent),
  );
  for (const one of fresh.content.querySelectorAll('details'))
    one.open = opened.has(one.querySelector('summary')?.textContent);
  const isAligned =
    old.length === next.length && old.every((one, index) => one.className === next[index]?.className);
  if (!isAligned) return keepingFocus(place, () => place.replaceChildren(...next));
  for (const [index, one] of old.entries()) {
    const newer = next[index];
    if (newer === undefined || withoutClocks(one) === withoutClocks(newer) || isSelected(one)) continue;
    keepingFocus(place, () => one.replaceWith(newer));
  }
}

/** The clocks of rows in progress are written here, not by the server. */
function withoutClocks(element: Element): string {
  return element.outerHTML.replace(/(<time[^>]*>)[^<]*/g, '$1');
}

function isSelected(element: Element): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

/** Gives the focus to the control in the same place, where the one that had it has been replaced. */
function keepingFocus(place: HTMLElement, change: () => void): void {
  const focused = document.activeElement;
  const isInside = focused instanceof HTMLElement && place.contains(focused);
  const { filter, copy } = isInside ? focused.dataset : {};
  const controls = (): HTMLElement[] => [
    ...place.querySelectorAll<HTMLElement>('a, button, summary, [tabindex]'),
  ];
  const index = isInside ? controls().indexOf(focused) : -1;
  change();
  if (!isInside || document.activeElement === focused) return;
  const now = controls();
  const same = now.find((one) => filter !== undefined && one.dataset['filter'] === filter);
  const copied = now.find((one) => copy !== undefined && one.dataset['copy'] === copy);
  (same ?? copied ?? now[index])?.focus({ preventScroll: true });
}
