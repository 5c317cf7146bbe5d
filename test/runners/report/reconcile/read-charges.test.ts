import { expect, it } from 'vitest';
import { readCharges } from '../../../../runners/report/reconcile/read-charges.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

async function amountsOf(...cells: readonly string[]): Promise<number[]> {
  const disk = new ForgetfulDisk();
  const lines = cells.map((cell, index) => `job-${index};"${cell}"`);
  disk.plant('/bill.csv', ['job;cost', ...lines, ''].join('\n'));
  return [...(await readCharges(disk, '/bill.csv', {})).values()].map(({ amount }) => amount);
}

it.each([
  ['0.0875', 87_500],
  ['$0.13', 130_000],
  ['0,175', 175_000],
  ['1,234.50', 1_234_500_000],
  ['1.234,50 USD', 1_234_500_000],
  ['1.234', 1_234_000],
  ['12,345,678', 12_345_678_000_000],
  ['1.234.567', 1_234_567_000_000],
  ['1e-3', 1000],
  ['0', 0],
  ['US$ 0.13', 130_000],
])('reads %j as %s', async (cell, amount) => expect(await amountsOf(cell)).toEqual([amount]));

it.each(['(0.10)', '-0.10'])('reads %j as a refund', async (cell) => {
  expect(await amountsOf(cell, '0.50')).toEqual([-100_000, 500_000]);
});

it.each(['0.13 EUR', '€0.13', '£0.13', '0.13 CHF', '', 'free', '1-2', '.'])(
  'refuses %j',
  async (cell) => await expect(amountsOf('1.00', cell)).rejects.toThrow('/bill.csv, line 3, column "cost": '),
);

it('reads a comma before three digits as the other amounts of the column show', async () => {
  expect(await amountsOf('1,750', '0,0875', '3')).toEqual([1_750_000, 87_500, 3_000_000]);
  expect(await amountsOf('1,750', '0.0875')).toEqual([1_750_000_000, 87_500]);
  expect(await amountsOf('1,750', '12,345,678')).toEqual([1_750_000_000, 12_345_678_000_000]);
  expect(await amountsOf('$1,750 ', '0,175')).toEqual([1_750_000, 175_000]);
});

it('reads a point before three digits so too, and as one of decimals where nothing shows it', async () => {
  expect(await amountsOf('1.750', '0,0875')).toEqual([1_750_000_000, 87_500]);
  expect(await amountsOf('1.750', '0.5')).toEqual([1_750_000, 500_000]);
});

it.each([
  ['no other amount', ['2', '1,750']],
  ['amounts of both kinds', ['0,5', '1.750', '0.5']],
])('refuses an amount with two meanings beside %s, and names its line', async (_, cells) => {
  await expect(amountsOf(...cells)).rejects.toThrow(
    /^\/bill\.csv, line 3, column "cost": "1[.,]750" may be two amounts/,
  );
});
