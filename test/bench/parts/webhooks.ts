import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { lastValueFrom, tap } from 'rxjs';
import { createClient, createWebhookReceiver, pullJobs, type Outcome } from '../../../src/index.js';
import { figure, ratios, type Figure } from '../figure.js';

const inFlight = 100;

/** What became of the jobs of one round. */
interface Round {
  readonly callsPerJob: number;
  readonly medianLagMs: number;
  readonly unknown: number;
  /** Jobs whose outcome is not the answer to their own input. */
  readonly wrong: number;
  /** Callbacks that were refused, a job. */
  readonly refused: number;
}

interface Ended {
  readonly n: number;
  readonly endedAt: number;
}

/** Jobs that the service calls back, beside the same jobs by polls: status calls, and how late an end is noticed. Rounds of all take turns. */
export async function webhooks(jobs: number, rounds: number): Promise<Figure[]> {
  const ways = {
    called: await way(jobs, ''),
    polled: await way(jobs, '', false),
    never: await way(jobs, 'callback-never=1'),
    lost: await way(jobs, 'reset-after@run=0.05'),
    forged: await way(jobs, 'callback-forged=1,callback-twice=0.2'),
  };
  const played: Record<string, Round[]> = {};
  for (let round = 0; round < rounds; round += 1)
    for (const [name, { play }] of Object.entries(ways)) (played[name] ??= []).push(await play());
  for (const { close } of Object.values(ways)) close();
  const of = (name: keyof typeof ways, what: keyof Round) => (played[name] ?? []).map((one) => one[what]);
  const sum = (name: keyof typeof ways, what: keyof Round) => [
    of(name, what).reduce((all, one) => all + one, 0),
  ];
  const named = `${jobs} jobs of 100–500 ms`;
  return [
    figure(`${named}, called back: status calls a job`, 'calls', of('called', 'callsPerJob'), {
      limit: { atMost: 0.1 },
    }),
    figure('the same: from the end of a job to its outcome, median', 'ms', of('called', 'medianLagMs'), {
      limit: { atMost: 50 },
    }),
    figure('the same by polls: status calls a job', 'calls', of('polled', 'callsPerJob')),
    figure(
      'the same by polls: from the end of a job to its outcome, median',
      'ms',
      of('polled', 'medianLagMs'),
    ),
    figure(
      'all callbacks lost: status calls against polls',
      '×',
      ratios(of('never', 'callsPerJob'), of('polled', 'callsPerJob')),
      { limit: { atMost: 1.2 } },
    ),
    figure(
      'all callbacks lost: the median, against polls',
      '×',
      ratios(of('never', 'medianLagMs'), of('polled', 'medianLagMs')),
      {
        limit: { atMost: 1.5 },
      },
    ),
    figure('5 % of the answers to /run lost: jobs that stay unknown', 'jobs', sum('lost', 'unknown'), {
      limit: { atMost: 0 },
    }),
    figure('a forged callback before each true one: refused a job', 'calls', of('forged', 'refused'), {
      limit: { atLeast: 1 },
    }),
    figure('the same: jobs with an outcome that is not theirs', 'jobs', sum('forged', 'wrong'), {
      limit: { atMost: 0 },
    }),
  ];
}

/** A service with these faults, and how the jobs of a round are done there. */
async function way(jobs: number, faults: string, isCalled = true) {
  const script = ['.config/run-ts.mjs', 'test/bench/service/serve-callbacks.ts', faults];
  const child = spawn(process.execPath, script, { stdio: ['pipe', 'pipe', 'inherit'] });
  let service = { baseUrl: '', apiKey: '' };
  for await (const line of createInterface(child.stdout)) {
    service = JSON.parse(line) as typeof service;
    break;
  }
  return {
    play: () => playRound({ ...service, jobs, isCalled }),
    close: () => void child.stdin.end(),
  };
}

async function playRound({
  jobs,
  isCalled,
  ...service
}: {
  baseUrl: string;
  apiKey: string;
  jobs: number;
  isCalled: boolean;
}): Promise<Round> {
  const callbacks = isCalled ? await openReceiver() : undefined;
  const client = createClient(service);
  const endpoint = client.queue<string>('timed', callbacks && { webhooks: callbacks.receiver });
  const lags: number[] = [];
  const seen = { calls: 0, unknown: 0, wrong: 0 };
  const rows = Array.from({ length: jobs }, (_, n) => n);
  const pulled = pullJobs(
    rows,
    (n) => {
      const job = endpoint.run({ n });
      return job.pipe(tap({ finalize: () => (seen.calls += job.statusCalls) }));
    },
    { concurrency: inFlight },
  );
  await lastValueFrom(
    pulled.pipe(
      tap(({ row, outcome }) => {
        const ended = endedBy(outcome);
        if (ended !== undefined) lags.push(performance.timeOrigin + performance.now() - ended.endedAt);
        if (outcome.status === 'failed' && outcome.code === 'unknown') seen.unknown += 1;
        else if (ended?.n !== row) seen.wrong += 1;
      }),
    ),
  );
  await callbacks?.close();
  lags.sort((one, other) => one - other);
  return {
    callsPerJob: seen.calls / jobs,
    medianLagMs: lags[lags.length >> 1] ?? Number.NaN,
    unknown: seen.unknown,
    wrong: seen.wrong,
    refused: (callbacks?.refused() ?? 0) / jobs,
  };
}

function endedBy(outcome: Outcome<unknown>): Ended | undefined {
  return outcome.status === 'completed' ? (outcome.output as Ended) : undefined;
}

async function openReceiver() {
  const server = createServer((request, response) => receiver.node(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const secret = randomBytes(32).toString('hex');
  const receiver = createWebhookReceiver({ secret, url: `http://127.0.0.1:${port}` });
  let refused = 0;
  receiver.calls$.subscribe(({ result }) => {
    if (result === 'forged') refused += 1;
  });
  return {
    receiver,
    refused: () => refused,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
