import { filter, firstValueFrom, map, Subject } from 'rxjs';
import { createClient, switchJobs } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A stream of requests: the latest wins, and the job of the one before is cancelled at the service.
const emulator = await startEmulator({ workers: 2 });
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const echo = client.queue('echo');
const accepted = () => firstValueFrom(client.activity$.pipe(filter(({ type }) => type === 'accepted')));

const requests = new Subject<string>();
const outcomes = requests.pipe(
  switchJobs((text) => echo.run({ text, sleepMs: text === 'mill' ? 60_000 : 20 })),
  filter((event) => event.type === 'settled'),
  map(({ outcome }) => outcome),
);
const first = firstValueFrom(outcomes);

requests.next('mill');
await accepted();
requests.next('millrace');

const outcome = await first;
console.log(outcome.status === 'completed' ? outcome.output : outcome.message);
for (const { input, status } of emulator.bill()) console.log(JSON.stringify(input), status);
await emulator.close();
