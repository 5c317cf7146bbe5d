import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeReconciliation } from '../../../../runners/report/reconcile/describe-reconciliation.js';
import type { StatementColumns } from '../../../../runners/report/reconcile/read-charges.js';
import { reconcileRun, type Reconciliation } from '../../../../runners/report/reconcile/reconcile-run.js';
import { makeRun } from '../../../support/make-run.js';
import { reportFolder } from '../../../support/report-folder.js';

const head = 'id,row,attempt,jobId,endpoint,resolution,cost,source,settledAt';
const at = '2026-11-20T10:00:00.000Z';
const costs = [
  head,
  `a,1,1,job-a,e,1k,0.0875,reported,${at}`,
  `b,2,1,job-b,e,2k,0.13,estimated,${at}`,
  `c,3,1,job-c,e,1k,0,estimated,${at}`,
  `d,4,1,,e,1k,0.0875,unknown,${at}`,
];

async function held(
  statement: readonly string[],
  purchases: readonly string[] = costs,
  columns?: StatementColumns,
): Promise<Reconciliation> {
  const folder = await reportFolder({
    'costs.csv': purchases.join('\r\n'),
    'statement.csv': statement.join('\n'),
  });
  return reconcileRun(folder, join(folder, 'statement.csv'), columns);
}

describe('reconcile', () => {
  it('takes lines without a job for a charge each: a row in doubt may be any of them, and is not taken for one that was never sent', async () => {
    const route = `r,1,1,,,,0.0875,unknown,${at}`;
    const found = await held(
      ['job,cost', ',0.0875', 'job-a,0.0875', ',0.0875', ',-0.0875'],
      [...costs.slice(0, 2), route],
    );
    expect(found.held.map(({ charges }) => charges.map(({ lines, amount }) => [lines, amount]))).toEqual([
      [
        [[2], 87_500],
        [[4], 87_500],
      ],
    ]);
  });

  it('finds the books of a run even when everything was charged as it was booked', async () => {
    const found = await held(['Job ID,Amount', 'job-a,$0.0875', 'job-b,$0.13'], costs.slice(0, 4));
    expect(found).toMatchObject({
      isEven: true,
      matched: 2,
      totals: { booked: 217_500, unknown: 0, charged: 217_500 },
    });
    expect(describeReconciliation(found)).toEqual([
      'The run booked $0.2175; the statement charges $0.2175 for it.',
      '2 purchases are in both at the same price.',
      'The books are even.',
    ]);
  });

  it('names what stands in one and not in the other, and what differs', async () => {
    const found = await held(['job,cost', 'job-a,0.09', 'job-c,0.0875', 'job-x,0.13'], costs.slice(0, 4));
    expect(
      found.differing.map(({ purchase, charge }) => [purchase.id, purchase.cost, charge.amount]),
    ).toEqual([
      ['a', 87_500, 90_000],
      ['c', 0, 87_500],
    ]);
    expect(found.onlyInRun.map(({ id }) => id)).toEqual(['b']);
    expect(found.onlyInStatement).toEqual([{ jobId: 'job-x', lines: [4], amount: 130_000 }]);
    expect(found.isEven).toBe(false);
    expect(describeReconciliation(found).join('\n')).toContain(
      'a (row 1): booked $0.0875, charged $0.09, line 2 of the statement',
    );
  });

  it('tells which charge a held row most likely is, and how to settle it', async () => {
    const found = await held([
      'job,cost,time',
      `job-a,0.0875,${at}`,
      `job-b,0.13,${at}`,
      'lost,0.0875,2026-11-20T10:20:00Z',
    ]);
    expect(
      found.held.map(({ purchase, charges }) => [purchase.id, charges.map(({ jobId }) => jobId)]),
    ).toEqual([['d', ['lost']]]);
    expect(found.onlyInStatement).toEqual([]);
    expect(describeReconciliation(found).join('\n')).toContain(
      'd (row 4): most likely job lost, line 4 of the statement (settle it with --job lost)',
    );
  });

  it('proposes a charge to no row where it may be that of another one', async () => {
    const unknown = (id: string, row: number) => `${id},${row},1,,e,1k,0.0875,unknown,${at}`;
    const found = await held(
      ['job,cost,time', `lost,0.0875,${at}`],
      [head, unknown('c', 3), unknown('d', 4), unknown('e', 5)],
    );
    const text = describeReconciliation(found).join('\n');
    expect(text).toContain(
      'd (row 4): may be job lost, line 2 of the statement, and so may 2 other purchases',
    );
    expect(text).not.toContain('settle it');
  });

  it('names as many charges for each row of a long outage, however many there are', async () => {
    const places = Array.from({ length: 120 }, (_, place) => place);
    const found = await held(
      ['job,cost,time', ...places.map((place) => `lost-${place},0.0875,${at}`)],
      [head, ...places.map((place) => `r${place},${place + 1},1,,e,1k,0.0875,unknown,${at}`)],
    );
    expect(found.held.map(({ charges }) => charges.length)).toEqual(places.map(() => 50));
    expect(found.onlyInStatement).toEqual([]);
    expect(describeReconciliation(found)).toContain(
      '  r7 (row 8): one of more than 50 charges: job lost-0, job lost-1, job lost-2, …',
    );
  });

  it('names the attempt of a row that was bought again since: its job can be polled no more', async () => {
    const found = await held(
      ['job,cost,time', `lost,0.0875,${at}`, `job-d,0.0875,${at}`],
      [head, `d,4,1,,e,1k,0.0875,unknown,${at}`, `d,4,2,job-d,e,1k,0.0875,reported,${at}`],
    );
    expect(describeReconciliation(found).join('\n')).toContain(
      'd (row 4): most likely job lost, line 2 of the statement (settle it with --attempt 1 --paid 0.0875)',
    );
  });

  it('takes a held row for not bought when no charge is like it', async () => {
    const found = await held(['job,cost', 'job-a,0.0875', 'job-b,0.13', 'other,0.175']);
    expect(describeReconciliation(found).join('\n')).toContain('d (row 4): no charge looks like it');
    expect(found.onlyInStatement.map(({ jobId }) => jobId)).toEqual(['other']);
  });

  it('looks for the charge of a request at the time when it left: a run that was killed gives it up a day later', async () => {
    const sentAt = Date.parse(at) - 24 * 3_600_000;
    const folder = await reportFolder({
      'costs.csv': [costs[0], costs[4]].join('\r\n'),
      'journal.jsonl': `${JSON.stringify({ n: 1, k: 'intent', at: sentAt, id: 'd', attempt: 1 })}\n`,
      'statement.csv': `job,cost,time\nlost,0.0875,${new Date(sentAt).toISOString()}\nlater,0.5,${at}\n`,
    });
    const { held } = await reconcileRun(folder, join(folder, 'statement.csv'));
    expect(held).toMatchObject([{ sentAt, isBeyond: false, charges: [{ jobId: 'lost' }] }]);
  });

  it.each([
    ['2026-11-20 02:30', 'a time without a zone'],
    ['2026-11-21', 'a day'],
    ['2026-11-20T00:00:00Z', 'a day, written as its midnight'],
    ['2026-11-20 00:00:00.000+00:00', 'the same'],
    ['1795132800', 'the same in seconds'],
    ['20/11/2026 12:00', 'the day in front'],
    ['11-20-2026', 'the month in front'],
    ['20.11.2026', 'a day in German'],
  ])('takes %s for a time that may be of any zone', async (time) => {
    const found = await held(['job,cost,time', `lost,0.0875,${time}`]);
    expect(found.held.map(({ charges }) => charges.length)).toEqual([1]);
  });

  it('takes 5/11/2026 for a day in May or in November, and the earlier one for the end of the statement', async () => {
    const purchases = [
      `a,1,1,job-a,e,1k,0.0875,reported,2026-11-05T10:00:00Z`,
      `d,4,1,,e,1k,0.0875,unknown,2026-11-05T10:00:00Z`,
    ];
    const lines = ['job,cost,time', 'job-a,0.0875,05/11/2026', 'lost,0.0875,05/11/2026'];
    const found = await held([...lines, 'later,0.5,12/11/2026'], [head, ...purchases]);
    expect(found.held.map(({ charges }) => charges.map(({ jobId }) => jobId))).toEqual([['lost']]);
    const without = await held(lines.slice(0, 2), [head, ...purchases]);
    expect(without.held).toMatchObject([{ isBeyond: true, charges: [] }]);
  });

  it('concludes nothing from a statement that has none of the jobs that the run paid for', async () => {
    const found = await held(['job,cost', 'other,0.5', 'another,0.5']);
    expect(found.held).toMatchObject([{ isForeign: true, charges: [] }]);
    expect(describeReconciliation(found).join('\n')).toContain('is it of this account?');
  });

  it('concludes nothing from a statement that lacks some of the jobs that the run paid for before its end', async () => {
    const later = '2026-11-20T10:05:00Z';
    const page = await held(['job,cost,time', `job-b,0.13,${at}`, `other,0.5,${later}`]);
    expect(page.held).toMatchObject([{ isForeign: false, isPartial: true, charges: [] }]);
    expect(describeReconciliation(page).join('\n')).toContain(
      'd (row 4): the statement lacks jobs that the run paid for, and may lack its charge as well',
    );
    // What ended after the end of the statement cannot be in it.
    const purchases = [...costs.slice(0, 4), `e,5,1,job-e,e,1k,0.0875,reported,${later}`, ...costs.slice(4)];
    const whole = await held(['job,cost,time', `job-a,0.0875,${at}`, `job-b,0.13,${at}`], purchases);
    expect(whole.held).toMatchObject([{ isBeyond: false, isPartial: false, charges: [] }]);
  });

  it('names a charge without a job by its line, and settles with what it cost', async () => {
    const lines = ['job,cost', 'job-a,0.0875', 'job-b,0.13', ',0.0875'];
    expect(describeReconciliation(await held(lines)).join('\n')).toContain(
      'd (row 4): most likely line 4 of the statement (settle it with --paid 0.0875)',
    );
    expect(describeReconciliation(await held([...lines, ',0.0875'])).join('\n')).toContain(
      'd (row 4): one of 2 charges: line 4, line 5',
    );
  });

  it('refuses a statement whose amounts are below zero: its charges would not be seen as such', async () => {
    const lines = ['job,cost', 'job-a,-0.0875', 'job-b,-0.13', 'lost,-0.0875', ',50'];
    await expect(held(lines)).rejects.toMatchObject({
      code: 'statement',
      message: expect.stringContaining('column "cost": most amounts are below zero'),
    });
  });

  it('takes a charge of somewhat another price for one that may be of the held row', async () => {
    const found = await held(['job,cost', 'dearer,0.1', 'far,0.5']);
    expect(found.held.map(({ charges }) => charges.map(({ jobId }) => jobId))).toEqual([['dearer']]);
    const unpriced = await held(['job,cost', 'far,0.5'], [head, `d,4,1,,e,,0,unknown,${at}`]);
    expect(unpriced.held.map(({ charges }) => charges.length)).toEqual([1]);
    const refund = await held(['job,cost', 'paid,0.5', ',-0.5'], [head, `d,4,1,,e,,0,unknown,${at}`]);
    expect(refund.held.map(({ charges }) => charges.map(({ jobId }) => jobId))).toEqual([['paid']]);
  });

  it('concludes nothing from a statement that ends before the request left', async () => {
    const found = await held(['job,cost,time', 'job-a,0.0875,2026-11-20T09:59:00Z']);
    expect(found.held).toMatchObject([{ isBeyond: true, charges: [] }]);
    expect(describeReconciliation(found).join('\n')).toContain('a newer one may have its charge');
  });

  it('takes a purchase that was settled by hand for the charge of its price, and no charge for two', async () => {
    const settled = [head, `a,1,1,job-a,e,1k,0.0875,reported,${at}`, `d,4,1,,e,1k,0.0875,reported,${at}`];
    const even = await held(['job,cost', 'job-a,0.0875', 'lost,0.0875'], settled);
    expect(even).toMatchObject({ isEven: true, onlyInRun: [], onlyInStatement: [] });
    expect(describeReconciliation(even)).toContain(
      '1 purchase settled by hand has a charge of the same price.',
    );
    const twice = await held(['job,cost', 'job-a,0.0875', 'lost,0.0875', 'more,0.0875'], settled);
    expect(twice.isEven).toBe(false);
    expect(twice.onlyInStatement.map(({ jobId }) => jobId)).toEqual(['more']);
  });

  it('knows columns that name their unit', async () => {
    const found = await held(['Job,Charge (USD),Time (UTC)', `job-a,0.0875,${at}`], costs.slice(0, 2));
    expect(found.isEven).toBe(true);
  });

  it('leaves charges of other times aside', async () => {
    const found = await held(
      ['job,cost,date', `job-a,0.0875,${at}`, `job-b,0.13,${at}`, 'old,5,2026-10-01', 'seconds,1,1790000000'],
      costs.slice(0, 4),
    );
    expect(found).toMatchObject({ isEven: true, elsewhere: { count: 2, amount: 6_000_000 } });
  });

  it('adds up several lines of one job', async () => {
    const found = await held(['job,cost', 'job-a,0.08', 'job-b,0.13', 'job-a,0.0075'], costs.slice(0, 4));
    expect(found.isEven).toBe(true);
  });

  it('takes the columns it is told, and says which there are', async () => {
    const statement = ['Vorgang;Betrag', 'job-a;0,0875', 'job-b;0,13'];
    const found = await held(statement, costs.slice(0, 4), { job: 'Vorgang', amount: 'Betrag' });
    expect(found.isEven).toBe(true);
    await expect(held(statement)).rejects.toThrow('say which of "Vorgang", "Betrag" does');
    await expect(held(statement, costs, { job: 'Nummer' })).rejects.toMatchObject({
      code: 'statement-columns',
      message: expect.stringContaining('"Nummer"') as string,
    });
  });

  it('refuses an amount that is none, with its line and column', async () => {
    await expect(held(['job,cost', '"job-a\n",0.1', 'job-b,oops'])).rejects.toThrow(
      'statement.csv, line 4, column "cost": "oops" is not an amount',
    );
    await expect(held(['job,cost', 'job-a'])).rejects.toThrow('line 2, column "cost": the amount is empty');
    await expect(held(['job,cost', 'job-a,1', '"job-b,2'])).rejects.toThrow(
      'line 3: a quote is opened that nothing closes',
    );
    await expect(held(['job,cost'])).rejects.toThrow('holds no charges');
  });

  it.each([
    [['job,cost', 'job-a,0.0875', 'job-b,€0.13'], 'line 3, column "cost": "€0.13" is not in US dollars'],
    [['job,cost', 'job-a,0.08 EUR'], 'line 2, column "cost": "0.08 EUR" is not in US dollars'],
    [
      ['job,cost,Currency', 'job-a,0.0875,USD', 'job-b,0.13,GBP'],
      'line 3, column "Currency": "GBP" is not in US dollars',
    ],
  ])('refuses sums of another currency: %j', async (statement, message) => {
    await expect(held(statement)).rejects.toThrow(message);
  });

  it('does not hold in doubt what was unknown for a while and reported since', async () => {
    const found = await held(
      ['job,cost', 'job-a,0.0875', 'job-e,0.0875'],
      [
        ...costs.slice(0, 2),
        `e,5,1,job-e,e,1k,0.0875,unknown,${at}`,
        `e,5,1,job-e,e,1k,0.0875,reported,2026-11-20T11:00:00.000Z`,
      ],
    );
    expect(found).toMatchObject({
      isEven: true,
      matched: 2,
      totals: { booked: 175_000, unknown: 0, charged: 175_000 },
    });
  });

  it('agrees with the books of a whole run', async () => {
    const parent = await reportFolder();
    const folder = join(parent, 'edits.out');
    await makeRun({ folder, rows: 300, pictures: false });
    const found = await reconcileRun(folder, join(folder, 'costs.csv'));
    expect(found).toMatchObject({ matched: 298, differing: [], onlyInRun: [] });
    expect(found.totals.booked).toBe(30_235_000);
    expect(found.held.length).toBe(2);
  });
});
