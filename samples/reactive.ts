import { Subject, debounceTime, map } from 'rxjs';
import { createClient, switchJobs, toOutcome } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A search box over a slow endpoint: the latest text wins, the older job is cancelled at the service.
const emulator = await startEmulator({ workers: 2, latency: 'fixed:150' });
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const echo = client.queue('echo', { onUnsubscribe: 'cancel' });

client.activity$.subscribe(({ key, type }) => console.log(`  ${key} ${type}`));

const typed = new Subject<string>();
const shown = typed.pipe(
  debounceTime(50),
  switchJobs((text) => echo.run({ text, sleepMs: 300 })),
  map((event) => (event.type === 'settled' ? event.outcome : undefined)),
);
const done = new Promise<void>((resolve) => {
  shown.subscribe((outcome) => {
    if (outcome === undefined) return;
    console.log(outcome.status === 'completed' ? outcome.output : `${outcome.code}: ${outcome.message}`);
    resolve();
  });
});

typed.next('mill');
await new Promise((resolve) => setTimeout(resolve, 200));
typed.next('millr');
typed.next('millrace');
await done;

// One job as a promise at the edge: subscribing buys, unsubscribing would leave it running.
echo
  .run({ text: 'once' })
  .pipe(toOutcome())
  .subscribe({ next: ({ status }) => console.log(status), complete: () => void emulator.close() });
