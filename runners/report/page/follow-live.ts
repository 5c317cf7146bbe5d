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

/** Whether a process works on the run, or the server itself is gone; and how far the run is, in the tab's title. */
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

/** What the pointer is on, what has the focus, or what is in sight stays where it is, whatever grows or shrinks above it. */
function keepingPlace(change: () => void): void {
  const candidates = [
    ...[...document.querySelectorAll('main :hover')].reverse(),
    document.activeElement,
    document.elementFromPoint(innerWidth / 2, innerHeight / 2),
  ];
  // What sticks to the window's edge says nothing of the page below it.
  const held = candidates.find((one) => one?.matches('main :not(.toolbar, .toolbar *)'));
  const top = held?.getBoundingClientRect().top ?? 0;
  change();
  if (held?.isConnected === true)
    scrollBy({ top: held.getBoundingClientRect().top - top, behavior: 'instant' });
}

/** The list of rows in progress keeps the room that it took at most: it is longer and shorter from second to second. */
function keepHeight(): void {
  const flight = document.getElementById('flight');
  const isRunning = flight?.querySelector('[data-mode=running]') != null;
  const { style } = document.documentElement;
  style.setProperty('--flight', isRunning ? `${flight.offsetHeight}px` : '0');
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
