import { describe, expect, it } from 'vitest';
import { createWaitingLine } from '../../../src/policy/waiting-line.js';

describe('a waiting line', () => {
  it('serves the urgent first, and each line in its order', () => {
    const line = createWaitingLine<string>();
    line.add('s1', false);
    line.add('p1', true);
    line.add('s2', false);
    line.add('p2', true);
    expect(line.all()).toEqual(['p1', 'p2', 's1', 's2']);
    expect([line.ahead(true), line.ahead(false), line.size]).toEqual([2, 4, 4]);
    line.delete('p1');
    line.delete('s1');
    expect([line.first(), line.size]).toEqual(['p2', 2]);
    line.delete('p2');
    expect(line.first()).toBe('s2');
    line.delete('s2');
    expect([line.first(), line.size]).toEqual([undefined, 0]);
  });
});
