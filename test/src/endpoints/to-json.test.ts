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

  it.each([
    ['NaN', NaN],
    ['-Infinity', -Infinity],
    ['Promise', Promise.resolve('a picture')],
    ['Map', new Map([['a', 1]])],
    ['Blob', new Blob(['a picture'])],
    ['Uint8Array', new Uint8Array(2)],
    ['Uint8Array', Buffer.from('a picture')],
    ['Function', () => 'a picture'],
    ['Function', Object.assign(() => 'a picture', { set: () => undefined })],
    ['an invalid Date', new Date(NaN)],
  ])('refuses %s, in place of which JSON.stringify writes something else', (kind, value) => {
    const message = `cannot be written as JSON: TypeError: "image" is ${kind}`;
    expect(() => toJson({ images: [{ image: value }] })).toThrow(message);
  });

  it.each([undefined, Symbol('a')])('refuses %s in an array, where JSON.stringify writes null', (value) => {
    expect(() => toJson({ images: ['https://a/a.png', value] })).toThrow(`"1" is ${String(value)}`);
  });

  it('writes what says itself how it is written, wrapped values, and instances of classes', () => {
    class Row {
      constructor(readonly a?: number) {}
    }
    const made = { at: new Date(0), b: Object(true) as unknown, row: new Row(1), empty: new Row(), none: {} };
    expect(toJson(made)).toBe(
      '{"at":"1970-01-01T00:00:00.000Z","b":true,"row":{"a":1},"empty":{},"none":{}}',
    );
  });
});
