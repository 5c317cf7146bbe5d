import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEmulator, type Emulator } from '../../../../runners/emulator/index.js';
import { readStatus } from '../../../../runners/batch/read-status.js';
import { startMillrace } from '../../../support/millrace.js';
import { openWorkplace, type Workplace } from '../../../support/workplace.js';
import { until } from '../../../support/until.js';

const key = 'canary-caps-11d0';
const payers = ['acme', 'beta', 'gamma'];
const payerOf = (n: number): string => payers[n % payers.length] ?? '';

let work: Workplace;
let emulator: Emulator;
beforeEach(async () => {
  work = await openWorkplace();
  emulator = await startEmulator({ key, workers: 20 });
  const rows = Array.from({ length: 60 }, (_, n) => ({
    id: `r${n}`,
    endpoint: 'echo',
    input: { n, sleepMs: 40 },
    customer: payerOf(n),
  }));
  await work.write(
    'rows.jsonl',
    rows.map((row) => JSON.stringify(row)),
  );
});
afterEach(async () => {
  await emulator.close();
  await work.remove();
});

function billed(): Record<string, number> {
  const counts = Object.fromEntries(payers.map((payer) => [payer, 0]));
  for (const { input } of emulator.bill()) counts[payerOf((input as { n: number }).n)]! += 1;
  return counts;
}

it('caps of values hold over kills, and the bill is that of the books, by customer', async () => {
  const run = () =>
    startMillrace(
      [
        ...['run', 'rows.jsonl', '--out', 'out', '--base-url', emulator.baseUrl, '--assume-price', '0.01'],
        ...['--max-cost-by', 'customer=0.12', '--concurrency', '4', '--quiet'],
      ],
      { cwd: work.folder, env: { MILLRACE_API_KEY: key } },
    );
  for (const rows of [6, 14]) {
    const { child, ended } = run();
    await until(() => emulator.bill().length >= rows);
    child.kill('SIGKILL');
    await ended;
  }
  const last = await run().ended;
  expect([3, 6]).toContain(last.code);
  const { cost, rows } = await readStatus(`${work.folder}/out`);
  expect(rows.toDo).toBeGreaterThan(0);
  const bill = billed();
  for (const payer of payers) {
    const {
      purchases = 0,
      held = 0,
      estimated = 0,
      unknown = 0,
    } = cost.by?.['customer']?.values[payer] ?? {};
    expect(Math.round((estimated + unknown) * 100)).toBe(12);
    expect(bill[payer]).toBeLessThanOrEqual(12);
    // A request that was out when the process was killed may have arrived or not.
    expect(bill[payer]).toBeGreaterThanOrEqual(purchases);
    expect(bill[payer]).toBeLessThanOrEqual(purchases + held);
  }
}, 60_000);
