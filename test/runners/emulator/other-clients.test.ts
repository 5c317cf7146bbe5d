import runpodSdk from 'runpod-sdk';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../runners/emulator/index.js';
import { asking } from '../../support/ask-emulator.js';

let emulator: Emulator;

beforeEach(async () => {
  emulator = await startEmulator({ workers: 2, functions: { queue: { count } } });
});
afterEach(() => emulator.close());

async function* count({ to }: Record<string, unknown>, job: { sleep(ms: number): Promise<void> }) {
  for (let n = 1; n <= Number(to); n += 1) {
    yield { n };
    await job.sleep(5);
  }
}

/** The client of somebody else, unchanged but for its base URL. */
const endpoint = (id: string) =>
  runpodSdk(emulator.apiKey, { baseUrl: `${emulator.baseUrl}/v2` }).endpoint(id)!;

describe('runpod-sdk', () => {
  it('submits, polls and waits', async () => {
    const echo = endpoint('echo');
    const { id, status } = await echo.run({ input: { a: 1 } });
    expect(status).toBe('IN_QUEUE');
    expect(await echo.statusSync(id)).toMatchObject({
      id,
      status: 'COMPLETED',
      output: { echo: { a: 1 } },
      completed: true,
    });
    expect(await echo.status(id)).toMatchObject({
      succeeded: true,
      delayTime: expect.any(Number),
      executionTime: expect.any(Number),
    });
  });

  it('runs synchronously, also past the first wait', async () => {
    const echo = endpoint('echo');
    expect(await echo.runSync({ input: { b: 2 } })).toMatchObject({
      status: 'COMPLETED',
      output: { echo: { b: 2 } },
    });
    const early = await startEmulator({
      faultOf: ({ operation }) => (operation === 'runsync' ? 'early-runsync' : ''),
    });
    const late = runpodSdk(early.apiKey, { baseUrl: `${early.baseUrl}/v2` }).endpoint('echo')!;
    expect(await late.runSync({ input: { c: 3 } })).toMatchObject({
      succeeded: true,
      output: { echo: { c: 3 } },
    });
    await early.close();
  });

  it('cancels, purges and asks for health', async () => {
    const echo = endpoint('echo');
    const { id } = await echo.run({ input: { sleepMs: 60_000 } });
    expect(await echo.cancel(id)).toMatchObject({ id, status: 'CANCELLED' });
    await Promise.all([1, 2, 3].map(() => echo.run({ input: { sleepMs: 60_000 } })));
    await asking(emulator).until('echo', { inProgress: 2, inQueue: 1 });
    expect(await echo.purgeQueue()).toEqual({ removed: 1, status: 'completed' });
    expect(await echo.health()).toMatchObject({
      jobs: { inProgress: 2, inQueue: 0 },
      workers: { idle: 0, running: 2 },
    });
  });

  it('streams', async () => {
    const counter = endpoint('count');
    const { id } = await counter.run({ input: { to: 4 } });
    const chunks: unknown[] = [];
    for await (const chunk of counter.stream(id)) chunks.push(chunk);
    expect(chunks).toEqual([1, 2, 3, 4].map((n) => ({ output: { n } })));
  });
});
