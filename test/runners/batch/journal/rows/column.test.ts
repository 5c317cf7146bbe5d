import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Column, WideColumn } from '../../../../../runners/batch/journal/rows/column.js';

describe('Column', () => {
  it('reads 0 where nothing was set, and keeps its neighbours', () => {
    const column = new Column(Uint8Array);
    column.set(200_000, 7);
    expect([
      column.get(0),
      column.get(199_999),
      column.get(200_000),
      column.get(200_001),
      column.get(9_999_999),
    ]).toEqual([...[0, 0, 7, 0, 0]]);
  });

  it('takes a value back to 0', () => {
    const column = new Column(Uint8Array);
    column.set(5, 0);
    column.set(5, 9);
    column.set(5, 0);
    expect(column.get(5)).toBe(0);
  });

  it('agrees with a map', () => {
    const writes = fc.array(fc.tuple(fc.nat(300_000), fc.nat(0xffff)));
    fc.assert(
      fc.property(writes, (given) => {
        const column = new Column(Uint16Array);
        for (const [index, value] of given) column.set(index, value);
        for (const [index, value] of new Map(given)) expect(column.get(index)).toBe(value);
      }),
    );
  });
});

describe('WideColumn', () => {
  it('holds offsets of up to a terabyte exactly', () => {
    const column = new WideColumn();
    const values = [0, 1, 0xffff_ffff, 0x1_0000_0000, 2 ** 40 - 1];
    values.forEach((value, index) => column.set(index, value));
    expect(values.map((_, index) => column.get(index))).toEqual(values);
  });

  it('refuses what it cannot hold, instead of cutting it', () => {
    expect(() => new WideColumn().set(0, 2 ** 40)).toThrow(RangeError);
    expect(() => new WideColumn().set(0, -1)).toThrow(RangeError);
  });
});
