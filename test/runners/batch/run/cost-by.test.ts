import { describe, expect, it } from 'vitest';
import { readStatus } from '../../../../runners/batch/read-status.js';
import { settleRow } from '../../../../runners/batch/settle-row.js';
import { sumsOf } from '../../../support/add-costs-by.js';
import { edit } from '../../../support/manifest-rows.js';
import { paperRun, type PaperEnd, type PaperRun } from '../../../support/paper-run.js';

const price = 0.0875;
const rows = [
  ...['a1', 'a2', 'a3', 'a4'].map((id) => ({ ...edit(id), customer: 'acme' })),
  ...['b1', 'b2'].map((id) => ({ ...edit(id), customer: 'beta' })),
  edit('n1'),
];

function begun(of: readonly object[] = rows): PaperRun {
  const run = paperRun();
  run.manifest(of);
  return run;
}

const statusOf = (run: PaperRun) => readStatus('/job/out', { disk: run.disk });
const byCustomer = ({ summary }: PaperEnd) => summary.cost.by?.['customer']?.values;
const aheadOf = ({ events }: PaperEnd) =>
  events.flatMap((event) => (event.type === 'checked' ? [event.ahead] : []))[0];
const sum = sumsOf({});

describe('costs by the values of a column', () => {
  it('stand in the summary, in costs.csv and in the status, and the run remembers the column', async () => {
    const run = begun();
    run.service.behave = (row) => (row === 'b2' ? 'fail' : row === 'a4' ? 'lose-answer' : 'complete');
    run.service.picture = (url) => (url.includes('/b1.') ? 404 : 200);
    const first = await run.start({ costBy: ['customer', 'resolution'], limit: 6 });
    const expected = {
      acme: { ...sum, purchases: 3, reported: 0.2625, unknown: price, completed: 3, failed: 1, held: 1 },
      beta: { ...sum, purchases: 2, reported: price, failed: 2, undownloaded: 1 },
    };
    expect(byCustomer(first)).toEqual(expected);
    expect((await statusOf(run)).cost.by).toEqual(first.summary.cost.by);
    const later = await run.start();
    expect(byCustomer(later)).toEqual({
      ...expected,
      '': { ...sum, purchases: 1, reported: price, completed: 1 },
    });
    expect((await statusOf(run)).cost.by).toEqual(later.summary.cost.by);
    expect(later.summary.cost.by?.['resolution']?.values).toMatchObject({
      '1k': { completed: 4, failed: 3 },
    });
    expect(run.costs().map(({ id, customer }) => [id, customer])).toEqual(
      expect.arrayContaining([
        ['a1', 'acme'],
        ['b2', 'beta'],
        ['n1', ''],
      ]),
    );
  });

  it('are added up for rows of earlier starts as well, and costs.csv is written anew with the column', async () => {
    const run = begun();
    await run.start({ limit: 4 });
    expect(Object.keys(run.costs()[0] ?? {})).not.toContain('customer');
    const later = await run.start({ costBy: ['customer'] });
    expect(byCustomer(later)).toMatchObject({ acme: { completed: 4 }, beta: { completed: 2 } });
    expect(run.costs().map(({ customer }) => customer)).toEqual([
      ...Array<string>(4).fill('acme'),
      ...Array<string>(2).fill('beta'),
      '',
    ]);
    const ended = await run.start({ costBy: null });
    expect(ended.summary.cost.by).toBeUndefined();
    expect(Object.keys(run.costs()[0] ?? {})).not.toContain('customer');
    const asked = await readStatus('/job/out', { disk: run.disk, costBy: ['customer'] });
    expect(asked.cost.by).toEqual(later.summary.cost.by);
  });

  it('stay with the value that a purchase was made for, also where its row has another one since', async () => {
    const run = begun([{ ...edit('a'), customer: 'acme' }]);
    run.service.behave = (_, nth) => (nth === 1 ? 'lose-answer' : 'complete');
    await run.start({ costBy: ['customer'] });
    run.manifest([{ ...edit('a'), customer: 'beta' }]);
    const again = await run.start({ retry: ['unknown'] });
    const expected = {
      acme: { ...sum, unknown: price },
      beta: { ...sum, purchases: 1, reported: price, completed: 1 },
    };
    expect(byCustomer(again)).toEqual(expected);
    const settled = await settleRow('/job/out', 'a', { paidUsd: 0.05 }, { ...folderOf(run), attempt: 1 });
    expect((await statusOf(run)).cost.by).toEqual(settled?.cost.by);
    expect(settled?.cost.by?.['customer']?.values).toEqual({
      ...expected,
      acme: { ...sum, purchases: 1, reported: 0.05 },
    });
    expect(run.costs().map(({ customer, source, cost }) => [customer, source, cost])).toEqual([
      ['beta', 'reported', String(price)],
      ['acme', 'reported', '0.05'],
    ]);
  });

  it('count rows that were never sent by what the manifest says of them', async () => {
    const run = begun([
      { ...edit('a'), customer: 'acme' },
      { ...edit('b'), images: 'javascript:1', customer: 'beta' },
    ]);
    const end = await run.start({ costBy: ['customer'], skipInvalid: true });
    expect(byCustomer(end)).toMatchObject({
      acme: { completed: 1, failed: 0 },
      beta: { completed: 0, failed: 1 },
    });
    expect((await statusOf(run)).cost.by).toEqual(end.summary.cost.by);
  });

  it('show the hundred dearest values apart, and the others together', async () => {
    const many = Array.from({ length: 130 }, (_, index) => ({ ...edit(`r${index}`), customer: `c${index}` }));
    const run = begun([...many, { ...edit('x'), customer: 'c129' }]);
    const { summary } = await run.start({ costBy: ['customer'] });
    const { values = {}, others } = summary.cost.by?.['customer'] ?? {};
    expect([Object.keys(values).length, values['c129']]).toEqual([
      100,
      { ...sum, purchases: 2, reported: 2 * price, completed: 2 },
    ]);
    expect(others).toMatchObject({ values: 30, purchases: 30, reported: 30 * price, completed: 30 });
  });

  it('are refused by a column that no row has, with a guess', async () => {
    const run = begun();
    const end = await run.start({ costBy: ['Customr'] });
    expect(end).toMatchObject({ exitCode: 2, reason: expect.stringContaining('did you mean "customer"?') });
    expect(run.service.posts).toEqual([]);
  });
});

describe('caps of the values of a column', () => {
  const maxCostByUsd = { customer: 0.2 };

  it('leave the rows that do not fit to be done, and let others go on', async () => {
    const run = begun();
    const end = await run.start({ maxCostByUsd });
    expect(end.exitCode).toBe(3);
    expect(end.reason).toBe(
      'Rows are left at the caps of their values: customer "acme" at $0.20. Run again with a higher --max-cost-by to continue, or unchanged once some of their money is free again. 2 rows to go.',
    );
    expect(run.service.posts.toSorted()).toEqual(['a1', 'a2', 'b1', 'b2', 'n1']);
    expect(end.summary.rows).toEqual({ total: 7, completed: 5, failed: 0, toDo: 2 });
    expect(aheadOf(end)).toMatchObject({
      fits: { rows: 5, estimated: 437_500 },
      by: [
        {
          column: 'customer',
          capUsd: 0.2,
          values: 3,
          short: 2,
          first: [{ value: 'acme', rows: 4, fits: 2 }, {}, {}],
        },
      ],
    });
  });

  it('are remembered, raised and lifted', async () => {
    const run = begun();
    await run.start({ maxCostByUsd });
    const again = await run.start();
    expect([again.exitCode, run.service.posts.length]).toEqual([3, 5]);
    expect(await statusOf(run)).toMatchObject({ rememberedCapsBy: { customer: 0.2 } });
    await run.start({ maxCostByUsd: { customer: 0.3 } });
    expect(run.service.posts.length).toBe(6);
    const lifted = await run.start({ maxCostByUsd: { customer: null } });
    expect([lifted.exitCode, run.service.posts.length]).toEqual([0, 7]);
    expect((await statusOf(run)).rememberedCapsBy).toBeUndefined();
  });

  it('count what was spent before they were given, and what may have been bought', async () => {
    const run = begun();
    run.service.behave = (row) => (row === 'a2' ? 'lose-answer' : 'complete');
    await run.start({ only: ['a1', 'a2'] });
    const end = await run.start({ maxCostByUsd });
    expect([end.exitCode, run.service.posts.toSorted()]).toEqual([3, ['a1', 'a2', 'b1', 'b2', 'n1']]);
  });

  it('hold for a row that is sent again though it may have been bought', async () => {
    const run = begun();
    run.service.behave = (_, nth) => (nth === 1 ? 'lose-answer' : 'complete');
    const end = await run.start({ maxCostByUsd, onUnknown: 'retry', concurrency: 1 });
    expect(end.exitCode).toBe(3);
    const { values = {} } = end.summary.cost.by?.['customer'] ?? {};
    for (const { reported, unknown } of Object.values(values))
      expect(reported + unknown).toBeLessThanOrEqual(maxCostByUsd.customer);
    expect(run.service.posts.length).toBe(6);
  });

  it('need the prices of rows', async () => {
    const run = begun([{ id: 'j', kind: 'job', endpoint: 'grind', input: { a: 1 }, customer: 'acme' }]);
    const end = await run.start({ maxCostByUsd });
    expect(end).toMatchObject({
      exitCode: 2,
      reason: expect.stringContaining('1 row has no known price (line 1, id "j"), so a cost cap cannot hold'),
    });
  });
});

function folderOf({ disk, scheduler }: PaperRun) {
  return { disk, scheduler, hold: () => Promise.resolve({ release: () => Promise.resolve() }) };
}
