import { setTimeout as sleep } from 'node:timers/promises';
import { lastValueFrom } from 'rxjs';
import { Agent } from 'undici';
import { createClient, pollFixed, pullJobs } from '../../../src/index.js';
import { createUndiciTransport } from '../../../src/undici.js';
import { cpuOf, figure, ratios, type Figure } from '../figure.js';
import { startService } from '../service/start-service.js';
import { manyOf } from './client-cpu.js';

const inFlight = 500;
/** Rounds that are not counted: until then the compiler is what is measured. */
const warmUp = 3;
/** No job runs longer: one poll a job, after that. */
const longestMs = 50;
const key = 'a-key-for-the-bench';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };

/** A young generation that the jobs in flight fit into: with node's own most of them are copied time and again. */
export const roomyFlags = ['--max-semi-space-size=64'];

/**
 * 500 jobs of 0–50 ms in flight over undici: jobs a second, and CPU a job; and beside it what nobody who uses undici
 * can go below: the same two requests a job, dispatched by hand.
 *
 * @param isRoomy This process was started with `roomyFlags`, as one is that is to carry so many jobs.
 */
export async function throughput(rounds: number, jobs = 4_000, isRoomy = false): Promise<Figure[]> {
  const service = await startService({ longestMs });
  const transport = createUndiciTransport();
  const client = createClient({ apiKey: key, baseUrl: service.baseUrl, transport });
  const endpoint = client.queue<string>('bench', { poll: pollFixed(longestMs) });
  const rows = Array.from({ length: jobs }, (_, n) => n);
  const run = () => lastValueFrom(pullJobs(rows, () => endpoint.run({}), { concurrency: inFlight }));
  const byHand = jobsByHand(service.baseUrl);
  const perSecond: number[] = [];
  const cpu: number[] = [];
  const floor: number[] = [];
  const served: number[] = [];
  for (let round = -warmUp; round < rounds; round += 1) {
    const least = (await cpuOf(() => manyOf(byHand, jobs, inFlight))) / jobs / 1_000;
    const before = (await service.counts()).cpuMs;
    const begin = performance.now();
    const ms = (await cpuOf(run)) / jobs / 1_000;
    const wallMs = performance.now() - begin;
    if (round < 0) continue;
    perSecond.push((jobs * 1_000) / wallMs);
    served.push(((await service.counts()).cpuMs - before) / jobs);
    cpu.push(ms);
    floor.push(least);
  }
  service.close();
  const ownCore = (ms: readonly number[]) => ms.map((each) => 1_000 / each);
  const name = `jobs of 0–50 ms, 500 in flight, over undici${isRoomy ? `, ${roomyFlags.join(' ')}` : ''}`;
  const hand = `the same two requests a job, undici by hand${isRoomy ? `, ${roomyFlags.join(' ')}` : ''}`;
  return [
    figure(name, 'jobs/s', perSecond, {
      note: 'wall time, shares the machine',
    }),
    figure(`${name}: CPU a job`, 'ms CPU', cpu),
    figure(`${name}, on a core of its own`, 'jobs/s', ownCore(cpu), {
      ...(isRoomy ? { limit: { atLeast: 5_000 } } : { note: "with node's own young generation" }),
    }),
    figure(`${name}: CPU a job of the service`, 'ms CPU', served, {
      note: 'not counted; on the other core it holds nobody up',
    }),
    figure(`${hand}: CPU a job`, 'ms CPU', floor),
    figure(`${hand}, on a core of its own`, 'jobs/s', ownCore(floor), { note: 'what undici leaves' }),
    figure(`${name}, against undici by hand`, '×', ratios(cpu, floor)),
  ];
}

/** A job by undici alone, without a limit, a check or a retry. */
function jobsByHand(origin: string): () => Promise<unknown> {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const send = (method: 'GET' | 'POST', path: string, body: string | null) =>
    new Promise<{ id: string }>((resolve, reject) => {
      const chunks: Buffer[] = [];
      agent.dispatch(
        { origin, path, method, headers, body },
        {
          onRequestStart: () => undefined,
          onResponseStart: () => undefined,
          onResponseData: (_controller, chunk) => chunks.push(chunk),
          onResponseEnd: () => resolve(JSON.parse(Buffer.concat(chunks).toString()) as { id: string }),
          onResponseError: (_controller, error) => reject(error),
        },
      );
    });
  return async () => {
    const { id } = await send('POST', '/v2/bench/run', '{"input":{}}');
    await sleep(longestMs);
    return send('GET', `/v2/bench/status/${id}`, null);
  };
}
