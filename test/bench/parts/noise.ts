import { setTimeout as sleep } from 'node:timers/promises';
import { lastValueFrom, tap } from 'rxjs';
import { adaptiveGate, createClient, pollFixed, pullJobs } from '../../../src/index.js';
import { createUndiciTransport } from '../../../src/undici.js';
import { figure, ratios, type Figure } from '../figure.js';
import { startService, type BenchService } from '../service/start-service.js';

const inFlight = 32;
const pollMs = 100;
/** Jobs run for 0 to so many ms. */
const longestMs = 40;
/** The last jobs are those that were refused time and again: how long they wait is chance. */
const counted = 0.95;
const key = 'a-key-for-the-bench';

interface NoiseRounds {
  readonly jobs: number;
  readonly shares: readonly number[];
  readonly rounds: number;
}

/**
 * Jobs a second where a share of the requests is refused (429) at random, beside a loop that polls as often and in which
 * each refused request waits by itself. Rounds of both take turns against the same service.
 */
export async function noise({ jobs, shares, rounds }: NoiseRounds): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const share of shares) {
    const service = await startService({ longestMs, noise: share });
    const ours: number[] = [];
    const loop: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      loop.push(await perSecond(jobs, (ended) => byLoop(service, jobs, ended)));
      ours.push(await perSecond(jobs, (ended) => byMillrace(service, jobs, ended)));
    }
    service.close();
    const name = `${jobs} jobs, ${share * 100} % refused at random`;
    figures.push(
      figure(`${name}: a loop in which each waits by itself`, 'jobs/s', loop),
      figure(`${name}: millrace`, 'jobs/s', ours),
      figure(`${name}: millrace against the loop`, '×', ratios(ours, loop), { limit: { atLeast: 0.7 } }),
    );
  }
  return figures;
}

async function perSecond(jobs: number, run: (ended: () => void) => Promise<unknown>): Promise<number> {
  const most = Math.floor(jobs * counted);
  const begin = performance.now();
  let ended = 0;
  let tookMs = 0;
  await run(() => {
    ended += 1;
    if (ended === most) tookMs = performance.now() - begin;
  });
  return (most * 1_000) / tookMs;
}

/** The gate is that of a run without `--rate`. */
function byMillrace({ baseUrl }: BenchService, jobs: number, ended: () => void): Promise<unknown> {
  const transport = createUndiciTransport();
  const client = createClient({ apiKey: key, baseUrl, transport, gate: adaptiveGate() });
  const endpoint = client.queue<string>('bench', { poll: pollFixed(pollMs), retry: { maxRetries: 100 } });
  const rows = Array.from({ length: jobs }, (_, n) => n);
  const outcomes = pullJobs(rows, (n) => endpoint.run({ n }), { concurrency: inFlight });
  return lastValueFrom(
    outcomes.pipe(
      tap(({ outcome }) => {
        if (outcome.status === 'failed') throw new Error(outcome.message);
        ended();
      }),
    ),
  );
}

/** What a person writes who wants it done: 0.5 s after a refusal, doubling to 30 s, with jitter. */
async function byLoop({ baseUrl }: BenchService, jobs: number, ended: () => void): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const ask = async (path: string, init: RequestInit): Promise<{ id: string; status: string }> => {
    for (let failures = 0; ; failures += 1) {
      const response = await fetch(`${baseUrl}/v2/bench/${path}`, { ...init, headers });
      if (response.status === 200) return (await response.json()) as { id: string; status: string };
      await response.arrayBuffer();
      await sleep(Math.min(500 * 2 ** failures, 30_000) * (0.5 + Math.random() / 2));
    }
  };
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < jobs) {
      const body = JSON.stringify({ input: { n: (begun += 1) } });
      let job = await ask('run', { method: 'POST', body });
      while (job.status !== 'COMPLETED') {
        await sleep(pollMs);
        job = await ask(`status/${job.id}`, {});
      }
      ended();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, work));
}
