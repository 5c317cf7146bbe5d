import { createBudget, createClient, pullJobs, retryPurchase, withinBudget } from 'millrace';
import { startEmulator } from 'millrace/emulator';

// A fan-out in which a row that failed is bought again, twice at most, and all rows together stay within one budget.
let failures = 1;
const render = ({ n }: Record<string, unknown>) => {
  if (n === 2 && failures-- > 0) throw new Error('out of memory');
  return { n, cost: 0.05 };
};
const emulator = await startEmulator({ workers: 1, functions: { queue: { render } } });
const client = createClient({ apiKey: emulator.apiKey, baseUrl: emulator.baseUrl });
const endpoint = client.queue('render');

const budget = createBudget(0.2);
const rows = [1, 2, 3, 4, 5, 6].map((n) => ({ n }));
const outcomes = pullJobs(
  rows,
  (row) =>
    // Each purchase has a reservation of its own; the budget takes over-budget rows before anything is sent.
    retryPurchase(() => endpoint.run(row), { maxRetries: 2, codes: ['job-failed'] }).pipe(
      withinBudget(budget, 0.05),
    ),
  { concurrency: 1 },
);

for await (const { row, outcome } of outcomes)
  console.log(row.n, outcome.status === 'completed' ? outcome.costUsd : outcome.code);
console.log(`spent $${budget.state().spentUsd} of $${budget.state().capUsd}`);
await emulator.close();
