import { describe, expect, it } from 'vitest';
import { RowSelection } from '../../../../runners/batch/manifest/rows/row-selection.js';
import { SelectRows } from '../../../../runners/batch/manifest/rows/row-selection.js';

describe('SelectRows', () => {
  it('takes so many', () => {
    const select = new SelectRows({ limit: 2, only: undefined });
    expect(['a', 'b', 'c'].map((id) => select.takes({ id }))).toEqual([true, true, false]);
    expect(select.isFull).toBe(true);
  });

  it('takes these alone, and names those that no row had', () => {
    const select = new SelectRows({ limit: 9, only: new RowSelection(['b', 'done', 'nobody']) });
    for (const id of ['a', 'b', 'done']) select.see({ id });
    expect(['a', 'b'].map((id) => select.takes({ id }))).toEqual([false, true]);
    expect(select.missing()).toEqual(['nobody']);
    expect(select.isFull).toBe(false);
  });

  it('knows entries that are each that of a row, and together of none', () => {
    const rows = [
      { id: 'a', columns: { customer: 'x' } },
      { id: 'b', columns: { customer: 'y' } },
    ];
    const apart = (...only: string[]) => {
      const select = new SelectRows({ limit: 9, only: new RowSelection(only) });
      for (const row of rows) select.see(row);
      return select.areApart;
    };
    expect(apart('customer=x', 'b')).toBe(true);
    expect(apart('customer=x', 'a', 'b')).toBe(false);
    expect(apart('customer=x', 'nobody')).toBe(false);
  });
});
