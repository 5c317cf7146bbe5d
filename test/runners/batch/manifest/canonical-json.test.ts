import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../../runners/batch/manifest/request-hash.js';

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, entry]) => [key, shuffled(entry)]),
  );
}

describe('canonicalJson', () => {
  it('sorts keys at every depth and leaves lists as they are', () => {
    expect(canonicalJson({ b: [{ d: 1, c: 2 }, 'x'], a: { f: null, e: undefined } })).toBe(
      '{"a":{"f":null},"b":[{"c":2,"d":1},"x"]}',
    );
  });

  it('takes each value once, however deep it lies', () => {
    const deep = (depth: number): unknown => (depth === 0 ? { b: 1, a: 2 } : { inner: deep(depth - 1) });
    const text = `${'{"inner":'.repeat(90)}{"a":2,"b":1}${'}'.repeat(90)}`;
    expect(canonicalJson(deep(90))).toBe(text);
  });

  it('keeps a key __proto__', () => {
    expect(canonicalJson(JSON.parse('{"b":1,"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1},"b":1}');
  });

  test.prop([fc.jsonValue({ maxDepth: 4 })])('is the same whatever the order of keys', (value) => {
    expect(canonicalJson(shuffled(value))).toBe(canonicalJson(value));
  });

  test.prop([fc.jsonValue({ maxDepth: 4 })])('parses to what went in', (value) => {
    expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  });
});
