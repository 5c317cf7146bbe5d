import { describe, expect, it } from 'vitest';
import { toJson } from '../../../src/endpoints/wire-requests.js';

describe('toJson', () => {
  it('writes JSON without white space', () => {
    expect(toJson({ a: [1, null, 'ü'], b: undefined })).toBe('{"a":[1,null,"ü"]}');
    expect(toJson(null)).toBe('null');
  });

  it('refuses what JSON cannot hold', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const value of [cycle, { n: 1n }, undefined, () => 1])
      expect(() => toJson(value)).toThrow(expect.objectContaining({ code: 'invalid-input' }));
  });
});
