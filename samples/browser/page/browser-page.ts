// Jobs in a browser: bought, watched and cancelled. The key is the proxy's, so the client has none.
import { createClient, type Job, type JobEvent } from 'millrace/core';
import { createFetchTransport } from 'millrace/fetch';

const client = createClient({ baseUrl: location.origin, transport: createFetchTransport() });
const endpoint = client.queue('echo');
const form = document.querySelector('form')!;
const list = document.querySelector('ul')!;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  const { text, sleepMs } = Object.fromEntries(new FormData(form));
  show(endpoint.run({ text, sleepMs: Number(sleepMs) }));
});

function show(job: Job<unknown>): void {
  const item = list.appendChild(document.createElement('li'));
  const status = item.appendChild(document.createElement('span'));
  const cancel = item.appendChild(document.createElement('button'));
  cancel.textContent = 'cancel';
  cancel.addEventListener('click', () => void job.cancel());
  job.subscribe((event) => {
    status.textContent = textOf(event);
    cancel.disabled = event.type === 'settled';
  });
}

function textOf(event: JobEvent<unknown>): string {
  if (event.type === 'status') return event.status;
  if (event.type !== 'settled') return event.type;
  const { outcome } = event;
  return outcome.status === 'completed' ? `completed: ${JSON.stringify(outcome.output)}` : outcome.code;
}
