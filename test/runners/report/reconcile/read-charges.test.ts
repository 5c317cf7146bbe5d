import { expect, it } from 'vitest';
import { parseAmount } from '../../../../runners/report/reconcile/read-charges.js';

it.each([
  ['0.0875', 87_500],
  ['$0.13', 130_000],
  ['0,175', 175_000],
  ['1,234.50', 1_234_500_000],
  ['1.234,50 USD', 1_234_500_000],
  ['1,234', 1_234_000_000],
  ['1.234', 1_234_000],
  ['12,345,678', 12_345_678_000_000],
  ['(0.10)', -100_000],
  ['-0.10', -100_000],
  ['1e-3', 1000],
  ['0', 0],
  ['US$ 0.13', 130_000],
  ['0.13 EUR', undefined],
  ['€0.13', undefined],
  ['£0.13', undefined],
  ['0.13 CHF', undefined],
  ['', undefined],
  ['free', undefined],
  ['1-2', undefined],
  ['.', undefined],
])('reads %j as %s', (cell, amount) => expect(parseAmount(cell)).toBe(amount));
