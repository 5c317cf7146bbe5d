import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RowStates } from '../../../../../runners/batch/journal/rows/row-states.js';
import type { RowStatus } from '../../../../../runners/batch/row/row-status.js';

const statuses: RowStatus[] = [
  'open',
  'sent',
  'accepted',
  'replied',
  'completed',
  'rejected',
  'unknown',
  'download',
];

describe('RowStates', () => {
  it('agrees with a map, over any writes', () => {
    const write = fc.record({
      id: fc.string({ maxLength: 3, unit: 'binary' }),
      status: fc.constantFrom(...statuses),
      attempts: fc.nat(9),
    });
    fc.assert(
      fc.property(fc.array(write, { maxLength: 3_000 }), (writes) => {
        const states = new RowStates();
        const model = new Map<string, (typeof writes)[number]>();
        for (const row of writes) {
          states.set(row.id, row);
          model.set(row.id, row);
        }
        expect(states.size).toBe(model.size);
        for (const [id, { status, attempts }] of model)
          expect(states.get(id)).toMatchObject({ status, attempts });
        expect(states.get('never')).toBeUndefined();
      }),
      { numRuns: 40 },
    );
  });

  it('keeps 300,000 rows apart while it grows', () => {
    const states = new RowStates();
    for (let i = 0; i < 300_000; i++)
      states.set(`row-${i}`, { status: statuses[i % statuses.length]!, attempts: i % 5 });
    expect(states.size).toBe(300_000);
    for (let i = 0; i < 300_000; i += 7) {
      const state = states.get(`row-${i}`);
      if (state?.status !== statuses[i % statuses.length] || state?.attempts !== i % 5)
        expect.fail(`row-${i}`);
    }
    expect(states.get('row-300000')).toBeUndefined();
  });

  it('changes only what it is given', () => {
    const states = new RowStates();
    states.set('a', { status: 'sent', hash: 'ffffffff00', attempts: 2 });
    states.set('a', { status: 'completed' });
    expect(states.get('a')).toMatchObject({ status: 'completed', attempts: 2 });
    expect(states.get('a')?.sameContent('ffffffff11')).toBe(true);
    expect(states.get('a')?.sameContent('fffffffe00')).toBe(false);
  });

  it('takes any content for the same where a row was never sent', () => {
    const states = new RowStates();
    states.set('a', { status: 'invalid-row' });
    expect(states.get('a')?.sameContent('0123456789')).toBe(true);
  });
});
