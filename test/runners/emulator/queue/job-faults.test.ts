import { afterEach, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../../../runners/emulator/index.js';
import { asking } from '../../../support/ask-emulator.js';
import { manualClock } from '../../../support/manual-clock.js';

let emulator: Emulator;

afterEach(() => emulator.close());

async function withFault(fault: string) {
  const clock = manualClock();
  const functions = { queue: { paid: () => ({ done: true, cost: 0.1 }) } };
  emulator = await startEmulator({
    clock,
    functions,
    faultOf: ({ operation }) => (/^run/.test(operation) ? fault : ''),
  });
  return { clock, ...asking(emulator) };
}

const reported = async (fault: string) => {
  const { run, until, status } = await withFault(fault);
  const id = await run('paid', {});
  await until('paid', { completed: 1 });
  return { reply: await status('paid', id), cost: emulator.bill()[0]!.costMicroDollars };
};

it('price changes what is told and what is billed', async () => {
  const { reply, cost } = await reported('price:1.25');
  expect([reply.output, cost]).toEqual([{ done: true, cost: 0.125 }, 125_000]);
});

it('no-cost, null-cost and no-output hide what is billed all the same', async () => {
  expect(await reported('no-cost')).toMatchObject({ reply: { output: { done: true } }, cost: 100_000 });
  await emulator.close();
  expect(await reported('null-cost')).toMatchObject({
    reply: { output: { done: true, cost: null } },
    cost: 100_000,
  });
  await emulator.close();
  const { reply, cost } = await reported('no-output');
  expect([reply.status, 'output' in reply, cost]).toEqual(['COMPLETED', false, 100_000]);
});

it('expire makes the result 404 as soon as it is there; the bill keeps it', async () => {
  const { run, until, get } = await withFault('expire');
  const id = await run('paid', {});
  await until('paid', { completed: 1 });
  expect((await get(`/v2/paid/status/${id}`)).status).toBe(404);
  expect(emulator.bill()).toMatchObject([
    { id, status: 'COMPLETED', executions: 1, costMicroDollars: 100_000 },
  ]);
});

it('stuck holds a job in the queue, for a time or for good', async () => {
  const { run, status, until, clock } = await withFault('stuck:2s');
  const id = await run('paid', {});
  await clock.advance(1_999);
  expect((await status('paid', id)).status).toBe('IN_QUEUE');
  await clock.advance(1);
  await until('paid', { completed: 1 });
  expect(await status('paid', id)).toMatchObject({ status: 'COMPLETED', delayTime: 2_000 });
  await emulator.close();
  const forever = await withFault('stuck');
  const stuck = await forever.run('paid', {});
  await forever.clock.advance(86_000_000);
  expect((await forever.status('paid', stuck)).status).toBe('IN_QUEUE');
});

it('fail and timed-out end a job without running it', async () => {
  const failing = await withFault('fail:out of memory');
  const id = await failing.run('paid', {});
  await failing.until('paid', { failed: 1 });
  expect(await failing.status('paid', id)).toMatchObject({ status: 'FAILED', error: 'out of memory' });
  expect(emulator.bill()).toMatchObject([{ costMicroDollars: 0 }]);
  await emulator.close();
  const late = await withFault('timed-out');
  const other = await late.run('paid', {});
  await late.until('paid', { failed: 1 });
  expect((await late.status('paid', other)).status).toBe('TIMED_OUT');
});

it.each([
  ['early-runsync', 'IN_PROGRESS'],
  ['early-runsync:IN_QUEUE', 'IN_QUEUE'],
])('%s answers before the end', async (fault, early) => {
  const { post, until, status } = await withFault(fault);
  const { status: code, json } = await post('/v2/paid/runsync', { input: {} });
  expect([code, json]).toEqual([200, { id: expect.any(String), status: early }]);
  await until('paid', { completed: 1 });
  expect((await status('paid', json.id)).status).toBe('COMPLETED');
});

it('the same seed brings the same faults to the same requests', async () => {
  const play = async (seed: number) => {
    emulator = await startEmulator({ seed, faults: '500=0.2,429=0.2,fail@run=0.3,cut@status=0.3' });
    const { post } = asking(emulator);
    const codes: number[] = [];
    for (let n = 0; n < 40; n += 1) codes.push((await post('/v2/echo/run', { input: { n } })).status);
    const bill = emulator.bill().map(({ input, status }) => [input, status]);
    await emulator.close();
    return { codes, bill };
  };
  const first = await play(4);
  expect(await play(4)).toEqual(first);
  expect((await play(5)).codes).not.toEqual(first.codes);
  expect(new Set(first.codes)).toEqual(new Set([200, 429, 500]));
});
