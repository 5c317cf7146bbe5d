import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../support/loopback-server.js';
import { echoJobs, openRehearsal } from '../../../support/rehearsal.js';
import { until } from '../../../support/until.js';

it('a run that is called back loses and doubles nothing where its process is killed between requests, answers and callbacks', async () => {
  const rows = 40;
  const work = await openRehearsal({ latency: 'uniform:200-900', workers: 8, faults: 'reset-after@run=0.1' });
  onTestFinished(() => work.close());
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
