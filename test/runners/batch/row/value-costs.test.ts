import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openJournal } from '../../../../runners/batch/journal/open-journal.js';
import type { RowRecord } from '../../../../runners/batch/row/record-head.js';
import { headOf } from '../../../../runners/batch/row/record-head.js';
import { bookings, type RowBooks } from '../../../../runners/batch/row/row-books.js';
import { Tally } from '../../../../runners/batch/row/tally.js';
import { costsByValue, type ValueCosts } from '../../../../runners/batch/row/value-costs.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';
import {
  accepted,
  append,
  completed,
  failed,
  intent,
  refused,
  reopen,
  reply,
} from '../../../support/sample-records.js';

const columns = ['customer', 'resolution'];

interface Step {
  readonly id: string;
  readonly what:
    'intent' | 'refused' | 'accepted' | 'reply' | 'completed' | 'failed' | 'unknown' | 'reopen' | 'freed';
  readonly customer: string;
  readonly price: number | null;
  readonly resolution: string;
}

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    what: fc.constantFrom(
      'intent',
      'intent',
      'refused',
      'accepted',
      'reply',
      'completed',
      'failed',
      'unknown',
      'reopen',
      'freed',
    ),
    customer: fc.constantFrom('acme', 'beta', '', '7', '__proto__', 'ö "x"'),
    price: fc.oneof(fc.nat(100), fc.constant(null)),
    resolution: fc.constantFrom('1k', '2k'),
  }),
  { maxLength: 40 },
);

function recordOf({ id, what, customer, price, resolution }: Step): RowRecord {
  const cells = { id, customer };
  const cost = { cost: price, source: price === null ? 'estimated' : 'reported' } as const;
  switch (what) {
    case 'intent':
      return intent(id, { price, resolution, cells, columns: { customer } });
    case 'refused':
      return refused(id);
    case 'accepted':
      return accepted(id);
    case 'reply':
      return reply(id, cost);
    case 'completed':
      return completed(id, cost);
    case 'failed':
      return failed(id, 'job-failed', { cost: 0, source: 'estimated' });
    case 'unknown':
      return failed(id, 'unknown', { cost: price, source: 'unknown' });
    case 'reopen':
      return reopen(id, 'buy');
    case 'freed':
      return {
        k: 'freed',
        at: 1,
        id,
        row: 1,
        kind: 'edit',
        endpoint: 'image-edit',
        attempt: 1,
        price,
        resolution,
        cost: 5,
        source: 'reported',
        cells,
        columns: { customer },
      };
  }
}

/** The records of the steps; `freed` only of purchases that were held when their row was bought again. */
function recordsOf(given: readonly Step[]): RowRecord[] {
  const lasts = new Map<string, { readonly intent: Step; price?: number | null }>();
  const held: Step[] = [];
  return given.flatMap((step) => {
    const last = lasts.get(step.id);
    if (step.what === 'freed') {
      const purchase = held.pop();
      return purchase === undefined ? [] : [recordOf({ ...purchase, what: 'freed' })];
    }
    if (step.what === 'intent') lasts.set(step.id, { intent: step });
    if (step.what === 'unknown' && last !== undefined) last.price = step.price;
    if (['refused', 'completed', 'failed', 'reply', 'accepted'].includes(step.what)) lasts.delete(step.id);
    if (step.what === 'reopen' && last?.price != null) held.push({ ...last.intent, price: last.price });
    if (step.what === 'reopen') lasts.delete(step.id);
    return [recordOf(step)];
  });
}

function fold(records: readonly RowRecord[]): Tally {
  const tally = new Tally();
  tally.columns = columns;
  const rows = new Map<string, RowBooks>();
  for (const record of records) {
    if (!rows.has(record.id)) {
      rows.set(record.id, {
        status: 'open',
        booking: bookings.none,
        amount: 0,
        isUnpriced: false,
        account: 0,
      });
      tally.addRow();
    }
    tally.take(rows.get(record.id)!, headOf(record));
  }
  return tally;
}

describe('costs by value', () => {
  it('add up to the sums of the run, in every column, whatever is recorded', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const tally = fold(recordsOf(given));
        const { ended, rows } = tally.totals();
        const isEnded = (status: string): boolean =>
          !['open', 'sent', 'accepted', 'replied'].includes(status);
        const all = [...rows].filter(([status]) => isEnded(status));
        for (const values of costsByValue(tally.kept).values()) {
          const sum = (of: (one: ValueCosts) => number): number =>
            [...values.values()].reduce((total, one) => total + of(one), 0);
          expect({
            reported: sum(({ reported }) => reported),
            estimated: sum(({ estimated }) => estimated),
            unknown: sum(({ unknown }) => unknown),
            rows: sum(({ rows: { completed: done, failed: lost } }) => done + lost),
            held: sum(({ rows: { unknown } }) => unknown),
          }).toEqual({
            reported: ended.reported,
            estimated: ended.estimated,
            unknown: ended.unknown,
            rows: all.reduce((total, [, count]) => total + count, 0),
            held: rows.get('unknown') ?? 0,
          });
        }
      }),
      { numRuns: 250 },
    );
  });

  it('are the same from the records as they are written and from the bytes of the journal', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (given) => {
        const records = recordsOf(given);
        const disk = new ForgetfulDisk();
        const journal = await openJournal(disk, '/out');
        await append(journal, { k: 'cost-by', at: 1, columns: ['customer'], capsUsd: { resolution: 1 } });
        for (const record of records) await append(journal, record);
        await journal.close();
        const { recovered } = await openJournal(disk, '/out');
        expect(costsByValue(recovered.tally)).toEqual(costsByValue(fold(records).kept));
        const again = await openJournal(disk, '/out', { costBy: ['kind'], maxCostByUsd: null });
        expect(again.recovered.tally.columns).toEqual(['kind']);
        expect(again.recovered.totals).toEqual({ ...recovered.totals });
      }),
      { numRuns: 60 },
    );
  });

  it('are exact in their sum for more values than are kept apart, and keep 100,000 of them', () => {
    const tally = new Tally();
    tally.columns = ['customer'];
    const count = 101_000;
    for (let index = 0; index < count; index++) {
      const books: RowBooks = {
        status: 'open',
        booking: bookings.none,
        amount: 0,
        isUnpriced: false,
        account: 0,
      };
      tally.addRow();
      const customer = `c${index}`;
      tally.take(books, headOf(intent('x', { cells: { customer }, columns: { customer } })));
      tally.take(books, headOf(completed('x')));
    }
    expect(tally.kept.accounts.length).toBeLessThanOrEqual(100_001);
    const values = costsByValue(tally.kept).get('customer') ?? new Map<string, ValueCosts>();
    const others = values.get('\0');
    expect(values.size).toBe(100_000);
    expect(others?.rows.completed).toBe(count - 99_999);
    expect([...values.values()].reduce((sum, { reported }) => sum + reported, 0)).toBe(
      tally.totals().ended.reported,
    );
    expect(tally.totals().byResolution.get('1k')?.purchases).toBe(count);
  });
});
