import { describe, expect, it } from 'vitest';
import { setPath } from '../../../../../runners/batch/manifest/columns/path-column.js';

describe('setPath', () => {
  it('makes objects on the way', () => {
    const target = {};
    expect(setPath(target, ['a', 'b', 'c'], 1)).toBeUndefined();
    expect(setPath(target, ['a', 'd'], 2)).toBeUndefined();
    expect(target).toEqual({ a: { b: { c: 1 }, d: 2 } });
  });

  it('does not touch objects that were there', () => {
    const shared = { b: 1 };
    const target = { a: shared };
    expect(setPath(target, ['a', 'c'], 2)).toBeUndefined();
    expect([target, shared]).toEqual([{ a: { b: 1, c: 2 } }, { b: 1 }]);
  });

  it.each([
    [['a'], 'a is set by another column too'],
    [['a', 'b'], 'a is set by another column, and is not an object'],
    [['o', 'x'], 'x is set by another column too'],
    [['l', '0'], 'l is set by another column, and is not an object'],
  ])('says what is in the way of %j, and changes nothing', (path, problem) => {
    const target = { a: 1, o: { x: null }, l: [1] };
    expect(setPath(target, path, 2)).toBe(problem);
    expect(target).toEqual({ a: 1, o: { x: null }, l: [1] });
  });

  it('does not reach what objects have of themselves', () => {
    const target: Record<string, unknown> = {};
    expect(setPath(target, ['constructor', 'prototype', 'polluted'], true)).toBeUndefined();
    expect(Object.keys(target)).toEqual(['constructor']);
    expect('polluted' in {}).toBe(false);
  });
});
