import { describe, expect, it, onTestFinished } from 'vitest';
import { paperRun, type PaperRun } from '../../../support/paper-run.js';
import type { IntentRecord } from '../../../../runners/batch/journal/record.js';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { costOfCompleted, costOfFailed } from '../../../../runners/batch/row/costs.js';
import { openRehearsal } from '../../../support/rehearsal.js';
import { rowWith } from '../../../support/whole-values.js';

/** Each POST is answered with a job that did not complete and reports a cost. */
async function chargedRun(status: number, state: string): Promise<PaperRun> {
  const run = paperRun();
  run.manifest([{ id: 'a', endpoint: 'echo', input: { row: 'a' } }]);
  run.service.behave = (row) => {
    run.service.posts.push(row);
    const id = `job-${run.service.posts.length}`;
    return { status, body: { id, status: state, error: 'no', output: { cost: 0.05 } } };
  };
  const end = await run.start({ maxCostUsd: 1, assumePriceUsd: 0.05 });
  expect(end.summary.cost).toMatchObject({ reported: 0.05 });
  return run;
}

describe.each([
  [200, 'FAILED'],
  [400, 'FAILED'],
  [200, 'CANCELLED'],
  [200, 'TIMED_OUT'],
])('a job that the service answers under HTTP %i as %s with a cost', (status, state) => {
  it('is a paid failure', async () => {
    const run = await chargedRun(status, state);
    expect(run.lines('failures.jsonl')).toMatchObject([
      { error: { code: 'charged', paid: 'yes', retryable: false } },
    ]);
    expect(run.costs()).toMatchObject([{ cost: '0.05', source: 'reported' }]);
  });

  it('is not bought again among what was not paid, and is by its own code', async () => {
    const run = await chargedRun(status, state);
    await run.start({ retry: ['failed'] });
    expect(run.service.posts).toEqual(['a']);
    await run.start({ retry: ['charged'] });
    expect(run.service.posts).toEqual(['a', 'a']);
  });
});

it('a row of another run that was charged there is left, and not called in doubt', async () => {
  const prior = (code: string, paid: string) => ({
    error: { code, message: 'no', retryable: false, paid },
    millrace: { row: 1, kind: 'job', endpoint: 'echo' },
  });
  const work = await openRehearsal();
  onTestFinished(() => work.close());
  await work.write(
    'left.jsonl',
    [prior('charged', 'yes'), prior('unknown', 'maybe')].map((failure, row) =>
      JSON.stringify({ id: `r${row}`, input: {}, ...failure }),
    ),
  );
  const run = await work.call('run', 'left.jsonl');
  expect(run).toMatchObject({ code: 6 });
  expect(run.stderr).toContain('  this start   0 rows to send, 1 in doubt, 1 paid before, and left\n');
});

const purchaseAt = (price: number) => ({
  facts: rowWith(),
  attempts: 1,
  statusCalls: 0,
  intent: { price } as IntentRecord,
});

it.each([
  ['no', { cost: 0, source: 'estimated' }],
  ['maybe', { cost: 87_500, source: 'unknown' }],
  ['yes', { cost: 87_500, source: 'unknown' }],
] as const)('a failure that is paid: %s, and reports no cost, is booked as %j', (paid, booked) => {
  expect(costOfFailed(purchaseAt(87_500), { paid, output: {} })).toEqual(booked);
});

it('a cost is believed by the price that was reserved, though the time of the job shows a lower one', () => {
  const prices = { ...createPriceBook(), estimate: () => 100 };
  const completed = { output: { cost: 0.9 }, executionTimeMs: 1 };
  expect(costOfCompleted(purchaseAt(1_000_000), completed, prices)).toEqual({
    cost: 900_000,
    source: 'reported',
  });
});
