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
});
