import { concat, distinctUntilChanged, lastValueFrom, of, scan, tap } from 'rxjs';
import { createClient, pollFixed, type JobEvent } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// The progress of one job, as a stream that a page can show: what happens, and how much of it is done.
interface Progress {
  readonly words: string;
  readonly percent: number;
}

function next(before: Progress, event: JobEvent<unknown>): Progress {
  if (event.type === 'submitting') return { words: 'sending', percent: 0 };
  if (event.type === 'accepted') return { words: 'in the queue', percent: 0 };
  if (event.type === 'waiting') return { ...before, words: `waiting: ${event.why}` };
  if (event.type === 'settled') return { words: event.outcome.status, percent: 100 };
  if (event.status === 'IN_QUEUE') return { words: 'in the queue', percent: 0 };
  return { words: 'working', percent: percentOf(event.partial) ?? before.percent };
}

/** A function tells of itself by a partial output; its shape is its own. */
function percentOf(partial: unknown): number | undefined {
  const isKnown = typeof partial === 'object' && partial !== null && 'percent' in partial;
  return isKnown && typeof partial.percent === 'number' ? partial.percent : undefined;
}

const emulator = await startEmulator({
  functions: {
    queue: {
      async resize(_input, job) {
        for (const percent of [25, 50, 75]) {
          job.progress({ percent });
          await job.sleep(60);
        }
        return { ok: true };
      },
    },
  },
});
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const job = client.queue('resize', { poll: pollFixed(10) }).run({});
const start: Progress = { words: 'ready', percent: 0 };

const progress = concat(of(start), job.pipe(scan(next, start))).pipe(
  distinctUntilChanged((one, other) => one.words === other.words && one.percent === other.percent),
);
await lastValueFrom(progress.pipe(tap(({ words, percent }) => console.log(`${percent} % ${words}`))));
await emulator.close();
