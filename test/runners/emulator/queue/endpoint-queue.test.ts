import { afterEach, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { asking } from '../../../support/ask-emulator.js';
import { manualClock } from '../../../support/manual-clock.js';

let emulator: Emulator;

afterEach(() => emulator.close());

describe('workers', () => {
  it('never run more jobs at once than there are, and run them in their order', async () => {
    const clock = manualClock();
    const order: unknown[] = [];
    let now = 0;
    let most = 0;
    const work = async ({ n }: Record<string, unknown>, job: { sleep(ms: number): Promise<void> }) => {
      order.push(n);
      most = Math.max(most, (now += 1));
      await job.sleep(10);
      now -= 1;
    };
    emulator = await startEmulator({ clock, workers: 3, functions: { queue: { work } } });
    const { run, until } = asking(emulator);
    for (let n = 0; n < 10; n += 1) await run('work', { n });
    await until('work', { inProgress: 3, inQueue: 7 });
    await clock.advance(40);
    await until('work', { completed: 10 });
    expect([most, order]).toEqual([3, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it('start cold: jobs wait, health says so, delayTime tells', async () => {
    const clock = manualClock();
    emulator = await startEmulator({ clock, coldStartMs: 8_000, workers: 2 });
    const { run, status, get } = asking(emulator);
    expect((await get('/v2/echo/health')).json.workers).toMatchObject({ idle: 0, initializing: 0 });
    const id = await run('echo', {});
    expect((await get('/v2/echo/health')).json.workers).toMatchObject({ idle: 0, initializing: 2 });
    await clock.advance(7_999);
    expect((await status('echo', id)).status).toBe('IN_QUEUE');
    await clock.advance(1);
    expect(await status('echo', id)).toMatchObject({ status: 'COMPLETED', delayTime: 8_000 });
    expect((await get('/v2/echo/health')).json.workers).toMatchObject({ idle: 2, initializing: 0 });
  });

  it('take at least the latency that was drawn', async () => {
    const clock = manualClock();
    emulator = await startEmulator({ clock, latency: 'fixed:300' });
    const { run, until, status } = asking(emulator);
    const [quick, slow, failing] = [
      await run('echo', { sleepMs: 100 }),
      await run('echo', { sleepMs: 500 }),
      await run('echo', { fail: 'x' }),
    ];
    await until('echo', { inProgress: 3 });
    await clock.advance(500);
    await until('echo', { completed: 2, failed: 1 });
    const times = await Promise.all(
      [quick, slow, failing].map(async (id) => (await status('echo', id)).executionTime),
    );
    expect(times).toEqual([300, 500, 300]);
  });

  it('are free again at once when a job is cancelled, even if its function goes on', async () => {
    const release: (() => void)[] = [];
    const stubborn = () => new Promise<string>((resolve) => release.push(() => resolve('late')));
    emulator = await startEmulator({ workers: 1, functions: { queue: { stubborn } } });
    const { run, post, until, status } = asking(emulator);
    const first = await run('stubborn', {});
    await until('stubborn', { inProgress: 1 });
    const second = await run('stubborn', {});
    await post(`/v2/stubborn/cancel/${first}`);
    expect((await status('stubborn', second)).status).toBe('IN_PROGRESS');
    release.forEach((each) => each());
    await until('stubborn', { completed: 1 });
    expect((await status('stubborn', first)).status).toBe('CANCELLED');
    expect((await status('stubborn', second)).output).toBe('late');
  });

  it('end a generator that was cancelled', async () => {
    const clock = manualClock();
    let isEnded = false;
    async function* endless(_input: unknown, job: { sleep(ms: number): Promise<void> }) {
      try {
        for (;;) {
          yield 'tick';
          await job.sleep(10);
        }
      } finally {
        isEnded = true;
      }
    }
    emulator = await startEmulator({ clock, functions: { queue: { endless } } });
    const { run, post, until } = asking(emulator);
    const id = await run('endless', {});
    await until('endless', { inProgress: 1 });
    await clock.advance(30);
    await post(`/v2/endless/cancel/${id}`);
    await until('endless', { inProgress: 0 });
    expect(isEnded).toBe(true);
  });
});
