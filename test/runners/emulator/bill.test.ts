import { existsSync, rmSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { type BillLine, createBill } from '../../../runners/emulator/bill.js';
import { startEmulator } from '../../../runners/emulator/index.js';
import { createTempFolder } from '../../../runners/emulator/temp-folder.js';
import { asking } from '../../support/ask-emulator.js';
import { manualClock } from '../../support/manual-clock.js';

const folder = createTempFolder();
afterEach(() => folder.remove());

const line = (id: string): BillLine => ({
  id,
  endpoint: 'écho',
  operation: 'run',
  input: { text: 'müller 🌊'.repeat(3) },
  status: 'COMPLETED',
  executions: 1,
  costMicroDollars: 87_500,
  submittedAt: 1,
});

describe('createBill', () => {
  it('gives back every line in order, from the file and from memory', () => {
    const own = createTempFolder();
    const bill = createBill(own);
    for (let n = 0; n < 20_000; n += 1) bill.close(line(String(n)));
    const ids = Array.from(bill.lines(), (text) => (JSON.parse(text) as BillLine).id);
    expect(ids).toEqual(Array.from({ length: 20_000 }, (_, n) => String(n)));
    expect(JSON.parse([...bill.lines()][7]!)).toEqual(line('7'));
    const path = own.path();
    bill.dispose();
    own.remove();
    expect(existsSync(path)).toBe(false);
    expect(() => [...bill.lines()]).toThrow('the bill went with the emulator that was closed');
  });

  it('says that lines are lost where they could not be written', () => {
    const own = createTempFolder();
    rmSync(own.path(), { recursive: true });
    const bill = createBill(own);
    for (let n = 0; n < 2_000; n += 1) bill.close(line(String(n)));
    expect(() => [...bill.lines()]).toThrow('a part of the bill is lost');
    own.remove();
  });
});

it('has each accepted job once: forgotten, kept and running', async () => {
  const clock = manualClock();
  const emulator = await startEmulator({ clock, maxJobs: 2 });
  const { run, until, get } = asking(emulator);
  const ids = [];
  for (let n = 0; n < 5; n += 1) ids.push(await run('echo', { n }));
  await until('echo', { completed: 5 });
  ids.push(await run('echo', { sleepMs: 1_000 }));
  await until('echo', { inProgress: 1 });
  const bill = emulator.bill();
  expect(bill.map(({ id }) => id)).toEqual(ids);
  expect(bill[0]).toEqual({
    id: ids[0],
    endpoint: 'echo',
    operation: 'run',
    input: { n: 0 },
    status: 'COMPLETED',
    executions: 1,
    costMicroDollars: 0,
    submittedAt: clock.now(),
  });
  expect(bill[5]).toMatchObject({ status: 'IN_PROGRESS', executions: 1 });
  expect((await get(`/v2/echo/status/${ids[0]}`)).status).toBe(404);
  const reported = await get('/emulator/bill');
  expect(reported.headers.get('content-type')).toBe('application/x-ndjson');
  expect(
    reported.text
      .trimEnd()
      .split('\n')
      .map((text) => JSON.parse(text)),
  ).toEqual(bill);
  await emulator.close();
});
