import { Agent } from 'node:http';
import got from 'got';
import { lastValueFrom, of } from 'rxjs';
import runpodSdk from 'runpod-sdk';
import { createClient, pullJobs, type PollSchedule } from '../../../src/index.js';
import { createGotTransport } from '../../../src/transport/got/got-transport.js';
import type { Transport, WireRequest } from '../../../src/transport/transport.js';
import { createUndiciTransport } from '../../../src/undici.js';
import { cpuOf, figure, ratios, type Figure } from '../figure.js';
import { startService } from '../service/start-service.js';

const inFlight = 10;

export interface RoundSize {
  /** Requests or jobs in a round. */
  readonly perRound: number;
  /** Rounds that are not counted: until then the compiler is what is measured. */
  readonly warmUp: number;
}

/** Many short rounds: a round and its baseline then meet the same load of the machine. */
const usual: RoundSize = { perRound: 250, warmUp: 20 };
const key = 'a-key-for-the-bench';
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
const body = JSON.stringify({ input: { prompt: 'make it blue' } });

/** CPU of a request and of a job, over got, over undici and by runpod-sdk, each round interleaved with its baseline. */
export async function clientCpu(rounds: number, size: RoundSize = usual): Promise<Figure[]> {
  const { perRound, warmUp } = size;
  const service = await startService();
  const url = `${service.baseUrl}/v2/bench`;
  const bare = bareGot();
  const sdk = sdkEndpoint(service.baseUrl);
  const transports = { got: createGotTransport(), undici: createUndiciTransport() };
  const ways = {
    bare: () => bare.post(`${url}/run`, { headers, body }),
    got: () => lastValueFrom(transports.got(requestTo(`${url}/run`))),
    undici: () => lastValueFrom(transports.undici(requestTo(`${url}/run`))),
    bareJob: async () => {
      const { id } = JSON.parse((await bare.post(`${url}/run`, { headers, body })).body) as { id: string };
      JSON.parse((await bare(`${url}/status/${id}`, { headers })).body);
    },
    sdkJob: async () => {
      const { id } = await sdk.run({ input: { prompt: 'make it blue' } });
      await sdk.status(id);
    },
  };
  const jobs = {
    gotJob: jobsOver(transports.got, service.baseUrl, perRound),
    undiciJob: jobsOver(transports.undici, service.baseUrl, perRound),
  };
  const spent: Record<string, number[]> = {};
  for (let round = -warmUp; round < rounds; round += 1) {
    for (const [name, way] of Object.entries(ways))
      note(name, round, await cpuOf(() => manyOf(way, perRound, inFlight)));
    for (const [name, way] of Object.entries(jobs)) note(name, round, await cpuOf(way));
  }
  service.close();
  return figuresOf(spent);

  function note(name: string, round: number, us: number): void {
    if (round >= 0) (spent[name] ??= []).push(us / perRound / 1_000);
  }
}

function figuresOf(spent: Record<string, number[]>): Figure[] {
  const of = (name: string) => spent[name] ?? [];
  const ms = (what: string, name: string, more = {}) => figure(what, 'ms CPU', of(name), more);
  const times = (what: string, one: string, other: string, atMost: number) =>
    figure(what, '×', ratios(of(one), of(other)), { limit: { atMost } });
  return [
    ms('a request, bare got', 'bare'),
    ms('a request, got transport', 'got'),
    times('got transport against bare got', 'got', 'bare', 1.15),
    ms('a request, undici transport', 'undici', { limit: { atMost: 0.1 } }),
    ms('a job (run and one poll), bare got', 'bareJob'),
    ms('a job, millrace over got', 'gotJob'),
    times('job over got against the bare loop', 'gotJob', 'bareJob', 1.3),
    ms('a job, millrace over undici', 'undiciJob'),
    ms('a job, runpod-sdk', 'sdkJob'),
    times('job over got against runpod-sdk', 'gotJob', 'sdkJob', 1),
  ];
}

function bareGot() {
  const agent = { http: new Agent({ keepAlive: true }) };
  return got.extend({ agent, retry: { limit: 0 }, followRedirect: false, throwHttpErrors: false });
}

function sdkEndpoint(baseUrl: string) {
  const endpoint = runpodSdk(key, { baseUrl: `${baseUrl}/v2` }).endpoint('bench');
  if (endpoint === null) throw new Error('runpod-sdk took no endpoint');
  return endpoint;
}

function requestTo(url: string): WireRequest {
  const ms = 60_000;
  const phases = { lookupMs: ms, connectMs: ms, secureConnectMs: ms, sendMs: ms, responseMs: ms };
  return {
    method: 'POST',
    url,
    headers,
    body,
    paid: true,
    timeouts: { ...phases, readMs: ms, idleMs: ms, requestMs: ms },
  };
}

/** So many calls of a way, some at a time. */
export async function manyOf(way: () => Promise<unknown>, count: number, inFlight: number): Promise<void> {
  let left = count;
  const worker = async () => {
    while (left-- > 0) await way();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
}

/** Asks at once, as the bare loop does. */
export const atOnce: PollSchedule = { pollTimes: () => of(undefined), observe: () => undefined };

function jobsOver(transport: Transport, baseUrl: string, count: number): () => Promise<unknown> {
  const endpoint = createClient({ apiKey: key, baseUrl, transport }).queue<string>('bench', { poll: atOnce });
  const rows = Array.from({ length: count }, (_, n) => n);
  const input = { prompt: 'make it blue' };
  return () => lastValueFrom(pullJobs(rows, () => endpoint.run(input), { concurrency: inFlight }));
}
