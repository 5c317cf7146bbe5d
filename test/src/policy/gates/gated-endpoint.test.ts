import { describe, expect, it } from 'vitest';
import { createWaitingQueue } from '../../../../src/policy/gates/gated-endpoint.js';

describe('a waiting queue', () => {
  it('serves the urgent first, and each line in its order', () => {
    const queue = createWaitingQueue<string>();
    queue.add('s1', false);
    queue.add('p1', true);
    queue.add('s2', false);
    queue.add('p2', true);
    expect([queue.all(true), queue.all(false)]).toEqual([
      ['p1', 'p2'],
      ['s1', 's2'],
    ]);
    expect([queue.ahead(true), queue.ahead(false), queue.size]).toEqual([2, 4, 4]);
    queue.delete('p1');
    queue.delete('s1');
    expect([queue.first(), queue.size]).toEqual(['p2', 2]);
    queue.delete('p2');
    expect(queue.first()).toBe('s2');
    queue.delete('s2');
    expect([queue.first(), queue.size]).toEqual([undefined, 0]);
  });
});
