import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { chooseRows, placeRows } from '../../../../runners/emulator/edit/raster.js';

describe('chooseRows', () => {
  it('comes as close to the ratio as rows allow, the shorter rows on top', () => {
    expect(chooseRows([1.5, 1.5, 1.5], 1.5).rows).toEqual([[0], [1, 2]]);
    expect(chooseRows([1, 1, 1, 1], 1).rows).toEqual([
      [0, 1],
      [2, 3],
    ]);
    expect(chooseRows([1, 1, 1], 3).rows).toEqual([[0, 1, 2]]);
    expect(chooseRows([1, 1, 1], 1 / 3).rows).toEqual([[0], [1], [2]]);
  });

  it('keeps to a number of rows', () => {
    expect(chooseRows([1, 2, 3], 1, 1)).toEqual({ rows: [[0, 1, 2]], ratio: 6 });
    expect(chooseRows([1, 2], 9, 2).rows).toEqual([[0], [1]]);
  });
});

describe('placeRows', () => {
  it('fills the canvas without cropping at the natural ratio', () => {
    const rows = chooseRows([1.5, 0.75], 1.5, 1);
    expect(placeRows(rows, [1.5, 0.75], { width: 2250, height: 1000 }, 0)).toEqual([
      { left: 0, top: 0, width: 1500, height: 1000 },
      { left: 1500, top: 0, width: 750, height: 1000 },
    ]);
  });

  test.prop([
    fc.array(fc.double({ min: 0.2, max: 5, noNaN: true }), { minLength: 1, maxLength: 14 }),
    fc.double({ min: 0.25, max: 4, noNaN: true }),
    fc.integer({ min: 0, max: 12 }),
  ])('puts every picture inside the canvas, none over another', (ratios, asked, gutter) => {
    const canvas = { width: 1024, height: Math.round(1024 / asked) };
    const boxes = placeRows(chooseRows(ratios, asked), ratios, canvas, gutter);
    expect(boxes).toHaveLength(ratios.length);
    for (const [index, box] of boxes.entries()) {
      expect(Math.min(box.width, box.height)).toBeGreaterThanOrEqual(1);
      expect(box.left + box.width).toBeLessThanOrEqual(canvas.width - gutter);
      expect(box.top + box.height).toBeLessThanOrEqual(canvas.height - gutter);
      for (const other of boxes.slice(index + 1)) {
        const isApart =
          other.left >= box.left + box.width + gutter ||
          other.top >= box.top + box.height + gutter ||
          other.left + other.width + gutter <= box.left;
        expect(isApart).toBe(true);
      }
    }
  });
});
