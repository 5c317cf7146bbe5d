import { lastValueFrom, scan, tap } from 'rxjs';
import { createClient, toOutcome } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A function that yields: its chunks are shown as they come, each once, and the job is bought once.
declare module 'millrace' {
  interface EndpointTypes {
    'read-aloud': { input: { text: string }; output: string[]; chunk: string };
  }
}

const emulator = await startEmulator({
  functions: {
    queue: {
      async *'read-aloud'({ text }, job) {
        for (const word of String(text).split(' ')) {
          yield word;
          await job.sleep(10);
        }
      },
    },
  },
});
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const voice = client.queue('read-aloud');

const job = voice.run({ text: 'the latest chunk comes last' });
const shown = voice.stream(job).pipe(
  scan((text, word) => (text === '' ? word : `${text} ${word}`), ''),
  tap((text) => console.log(text)),
);
await lastValueFrom(shown);

const outcome = await lastValueFrom(job.pipe(toOutcome()));
if (outcome.status === 'completed')
  console.log(`${outcome.output.length} words, ${emulator.bill().length} job`);
await emulator.close();
