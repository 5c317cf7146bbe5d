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
    const place = document.getElementById('flight');
    if (place !== null) place.innerHTML = (JSON.parse(event.data) as FlightUpdate).flight;
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
