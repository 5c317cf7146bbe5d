import type { LiveUpdate } from '../page-data.js';

/** Takes the updates of a server that watches a run, and says when it is gone. The browser reconnects by itself. */
export function followLive(take: (update: LiveUpdate) => void): void {
  const state = document.getElementById('live');
  if (state === null) return;
  const events = new EventSource('events');
  events.addEventListener('update', (event: MessageEvent<string>) =>
    take(JSON.parse(event.data) as LiveUpdate),
  );
  const show = (isLost: boolean): void => {
    state.classList.toggle('lost', isLost);
    state.textContent = isLost ? 'Not connected: the watch has ended, or is being started again' : 'Live';
  };
  events.addEventListener('open', () => show(false));
  events.addEventListener('error', () => show(true));
}
