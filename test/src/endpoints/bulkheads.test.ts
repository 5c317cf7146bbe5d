import { lastValueFrom, of, VirtualTimeScheduler } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/endpoints/create-client.js';
import { toOutcome } from '../../../src/operators/to-outcome.js';
import { adaptiveGate, openGate, rateGate } from '../../../src/policy/gates/built-in-gates.js';
import { pollFixed } from '../../../src/policy/polling/poll-schedule.js';
import type { GateAnswer, GateRequest } from '../../../src/policy/gates/gate.js';
import { serveQueue } from '../../support/queue-server.js';
import { replied } from '../../support/virtual-time.js';

/** A client by virtual time over a service whose endpoint `bad` answers every request with that status. */
function virtualClient(status: number, gateOf: typeof openGate) {
  const scheduler = new VirtualTimeScheduler(undefined, Infinity);
  scheduler.now = () => scheduler.frame;
  const client = createClient({
    baseUrl: 'https://api.example.test',
    scheduler,
    gate: gateOf({ scheduler, random: () => 1 }),
    random: () => 1,
    transport: ({ url }) =>
      of(
        url.includes('/bad/')
          ? replied(status, { error: 'bad' })
          : replied(200, { id: `j-${url}`, status: 'COMPLETED', output: 1 }),
      ),
  });
  return { scheduler, client };
}

const gates: [string, typeof openGate][] = [
  ['openGate', openGate],
  ['adaptiveGate', adaptiveGate],
  ['rateGate', (options) => rateGate(1_000, options)],
];

describe.each(gates)('%s', (_name, gateOf) => {
  it.each([429, 500])('lets an endpoint go on at once while another one answers %s', (status) => {
    const { scheduler, client } = virtualClient(status, gateOf);
    const bad = client.queue('bad', { retry: { maxRetries: 20 } });
    const good = client.queue('good');
    const endedAt: number[] = [];
    for (let n = 0; n < 40; n++) bad.run({ n }).subscribe();
    for (let n = 0; n < 100; n++)
      scheduler.schedule(() => {
        good
          .runSync({ n })
          .pipe(toOutcome())
          .subscribe(() => endedAt.push(scheduler.frame - n * 100));
      }, n * 100);
    scheduler.maxFrames = 20_000;
    scheduler.flush();
    expect(endedAt).toHaveLength(100);
    expect(Math.max(...endedAt)).toBeLessThan(150);
  });
});

describe('the endpoints of a client', () => {
  it('have a quota of retries each: one that is empty ends no retries of another endpoint', () => {
    const scheduler = new VirtualTimeScheduler(undefined, Infinity);
    scheduler.now = () => scheduler.frame;
    let asked = 0;
    const client = createClient({
      baseUrl: 'https://api.example.test',
      scheduler,
      random: () => 1,
      transport: ({ url }) =>
        of(
          url.includes('/bad/') || ++asked === 1
            ? replied(429, { error: 'slow down' })
            : replied(200, { id: 'j', status: 'COMPLETED', output: 1 }),
        ),
    });
    const bad = client.queue('bad', { retry: { maxRetries: 1_000 } });
    const codes: string[] = [];
    for (let n = 0; n < 40; n++)
      bad
        .run({ n })
        .pipe(toOutcome())
        .subscribe((outcome) => codes.push(outcome.status === 'failed' ? outcome.code : 'completed'));
    scheduler.maxFrames = 24 * 3_600_000;
    scheduler.flush();
    expect(codes.filter((code) => code === 'refused').length).toBeGreaterThan(0);
    let good: string | undefined;
    client
      .queue('good')
      .runSync({})
      .pipe(toOutcome())
      .subscribe(({ status }) => (good = status));
    scheduler.maxFrames += 60_000;
    scheduler.flush();
    expect(good).toBe('completed');
  });

  it('name themselves at the gate, with the host and port that they are asked at', async () => {
    const seen: (GateRequest | GateAnswer)[] = [];
    const gate = openGate();
    const client = createClient({
      baseUrl: 'https://api.example.test',
      gate: {
        admit: (request) => {
          seen.push(request);
          return gate.admit(request);
        },
        observe: (answer) => seen.push(answer),
      },
      transport: () => of(replied(200, { id: 'j', status: 'COMPLETED', output: 1 })),
    });
    await lastValueFrom(client.queue('echo').runSync({}, { key: 'row-1' }));
    await lastValueFrom(client.routes('http://127.0.0.1:8100/lb').get('info', { key: 'row-2' }));
    const queue = { kind: 'submit', key: 'row-1', endpointId: 'echo', host: 'api.example.test' };
    const route = { kind: 'submit', key: 'row-2', endpointId: '', host: '127.0.0.1:8100' };
    expect(seen).toStrictEqual([queue, { ...queue, status: 200 }, route, { ...route, status: 200 }]);
  });

  it('do not wait for each other over a real connection', async () => {
    await using server = await serveQueue({
      polls: 0,
      answer: (request, response) => {
        if (!request.url!.includes('/bad/')) return false;
        // Longer than a test may take.
        response.writeHead(429, { 'retry-after': '600' }).end('{"error":"slow down"}');
        return true;
      },
    });
    const client = createClient({ baseUrl: server.url });
    const bad = client.queue('bad');
    const good = client.queue('good', { poll: pollFixed(5) });
    const left = Array.from({ length: 20 }, (_, n) => bad.run({ n }).subscribe());
    await server.arrived('/bad/');
    for (let n = 0; n < 20; n++) await lastValueFrom(good.run({ n }));
    expect(left.every(({ closed }) => !closed)).toBe(true);
    for (const each of left) each.unsubscribe();
  });
});
