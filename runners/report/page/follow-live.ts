import type { FlightUpdate, LiveUpdate } from '../page-data.js';
import { formatSpan } from '../messages/format-amounts.js';

/** Applies the updates of the watch server, and shows when it is gone. The browser reconnects by itself. */
export function followLive(take: (update: LiveUpdate) => void): void {
  const state = document.getElementById('live');
  if (state === null) return;
  const events = new EventSource('events');
  events.addEventListener('update', (event: MessageEvent<string>) => {
    take(JSON.parse(event.data) as LiveUpdate);
    tick();
    showState(state);
  });
  events.addEventListener('flight', (event: MessageEvent<string>) => {
    updatePart('flight', (JSON.parse(event.data) as FlightUpdate).flight);
    tick();
    showState(state);
  });
  tick();
  setInterval(tick, 1000);
  events.addEventListener('open', () => showState(state, false));
  events.addEventListener('error', () => showState(state, true));
}

/** Shows whether a process works on the run, or the server is gone, and the run's progress in the tab's title. */
function showState(place: HTMLElement, isLost = place.classList.contains('lost')): void {
  const { mode, title } = document.querySelector<HTMLElement>('#flight [data-mode]')?.dataset ?? {};
  const words =
    { running: 'Live', ended: 'Ended', stopped: 'Stopped', none: 'Waiting' }[mode ?? 'none'] ?? 'Waiting';
  const text = isLost ? 'Disconnected. Reconnecting… (is `millrace watch` running?)' : words;
  place.classList.toggle('lost', isLost);
  place.classList.toggle('running', mode === 'running');
  if (place.textContent !== text) place.textContent = text;
  if (title !== undefined && title !== '') document.title = `${title} · millrace`;
}

/** Keeps the clocks of rows in flight running between two updates. */
function tick(): void {
  for (const clock of document.querySelectorAll<HTMLElement>('[data-since]')) {
    const seconds = Math.max(0, Math.round((Date.now() - Number(clock.dataset['since'])) / 1000));
    clock.textContent = seconds < 1 ? 'now' : formatSpan(seconds * 1000).replace('.0 s', ' s');
  }
}

/**
 * Updates a part of the page, section by section. An unchanged section stays; a section with selected text waits for
 * the next update; the focus stays in its place.
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
  keepingPlace(() => {
    if (!isAligned) keepingFocus(place, () => place.replaceChildren(...next));
    for (const [index, one] of isAligned ? old.entries() : []) {
      const newer = next[index];
      if (newer === undefined || withoutClocks(one) === withoutClocks(newer) || isSelected(one)) continue;
      keepingFocus(place, () => one.replaceWith(newer));
    }
    keepHeight();
  });
}

/** Keeps the element under the pointer, with the focus or in sight in place when content above it grows or shrinks. */
function keepingPlace(change: () => void): void {
  const candidates = [
    ...[...document.querySelectorAll('main :hover')].reverse(),
    document.activeElement,
    document.elementFromPoint(innerWidth / 2, innerHeight / 2),
  ];
  // Sticky elements do not count, because they do not move with the page.
  const held = candidates.find((one) => one?.matches('main :not(.toolbar, .toolbar *)'));
  const top = held?.getBoundingClientRect().top ?? 0;
  change();
  if (held?.isConnected === true)
    scrollBy({ top: held.getBoundingClientRect().top - top, behavior: 'instant' });
}

/** The list of rows in progress keeps its largest height, because its length changes every second. */
function keepHeight(): void {
  const flight = document.getElementById('flight');
  const isRunning = flight?.querySelector('[data-mode=running]') != null;
  const { style } = document.documentElement;
  style.setProperty('--flight', isRunning ? `${flight.offsetHeight}px` : '0');
}

/** The page writes the clocks of rows in progress, not the server. */
function withoutClocks(element: Element): string {
  return element.outerHTML.replace(/(<time[^>]*>)[^<]*/g, '$1');
}

function isSelected(element: Element): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
}

/** Moves the focus to the control in the same place when the focused one was replaced. */
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
