import { afterEach, beforeEach, expect, it } from 'vitest';
import { freePort } from '../../../support/loopback-server.js';
import { until } from '../../../support/until.js';
import { echoJobs, openRehearsal, type Rehearsal } from '../../../support/rehearsal.js';

let work: Rehearsal;

beforeEach(async () => {
  work = await openRehearsal();
  await work.write('rows.jsonl', echoJobs(5));
});
afterEach(() => work.close());

it('has the emulator of a rehearsal call back', async () => {
  const { code, stdout, stderr } = await work.call(
    'run',
    'rows.jsonl',
    '--local',
    '--webhook-listen',
    '127.0.0.1:0',
    '--out',
    'out',
  );
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).toMatch(/callbacks +5 taken/);
  expect(await work.json('out/summary.json')).toMatchObject({
    rows: { completed: 5 },
    thisStart: { callbacks: { taken: 5, refused: 0 } },
  });
});

it.each([
  [['--webhook-listen', '127.0.0.1:0'], /--webhook-listen.*goes with --webhook-url/],
  [['--webhook-url', 'ftp://x'], /"ftp:\/\/x" is no http or https URL/],
  [['--webhook-url', 'https://hooks.example', '--webhook-listen', 'x'], /"x" is no address to listen at/],
])('refuses %j, and sends nothing', async (options, why) => {
  const { code, stderr } = await work.call('run', 'rows.jsonl', '--yes', ...options);
  expect([code, stderr]).toStrictEqual([2, expect.stringMatching(why)]);
  expect(work.emulator.bill()).toStrictEqual([]);
});

it('is taken by plan, which does not depend on it', async () => {
  const { code, stdout, stderr } = await work.call(
    'plan',
    'rows.jsonl',
    '--webhook-url',
    'https://hooks.example',
  );
  expect(code).toBe(0);
  expect(`${stdout}${stderr}`).toContain('does not depend on --webhook-url');
});

it('loses and doubles nothing where its process is killed between requests, answers and callbacks', async () => {
  const rows = 40;
  await work.close();
  work = await openRehearsal({ latency: 'uniform:200-900', workers: 8, faults: 'reset-after@run=0.1' });
  await work.write('rows.jsonl', echoJobs(rows));
  const port = String(await freePort());
  const args = ['run', 'rows.jsonl', '--yes', '--assume-price', '0.01', '--out', 'out', '--concurrency', '8'];
  const listen = ['--webhook-url', `http://127.0.0.1:${port}`, '--webhook-listen', `127.0.0.1:${port}`];
  for (const afterRows of [3, 12, 25]) {
    const { child, ended } = work.start(...args, ...listen);
    await until(async () => (await work.lines('out/results.jsonl')).length >= afterRows);
    child.kill('SIGKILL');
    await ended;
  }
  const { code } = await work.call(...args, ...listen);
  const { code: last } = code === 0 ? await work.call(...args, ...listen) : { code };
  const bill = work.emulator.bill();
  const bought = new Set(bill.map(({ input }) => (input as { n: number }).n));
  expect(bill.filter(({ executions }) => executions > 1)).toStrictEqual([]);
  expect(bill).toHaveLength(bought.size);
  const completed = await work.lines('out/results.jsonl');
  const held = await work.lines('out/failures.jsonl');
  expect(new Set(completed.map(({ id }) => id)).size).toBe(completed.length);
  expect(completed.length + held.length).toBe(rows);
  expect(last).toBe(held.length === 0 ? 0 : 6);
  for (const { error } of held) expect(error).toMatchObject({ code: 'unknown', paid: 'maybe' });
});
