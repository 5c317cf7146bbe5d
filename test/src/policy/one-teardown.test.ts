import { Subscription } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { OneTeardown } from '../../../src/policy/one-teardown.js';

describe('OneTeardown', () => {
  it('tears down all that belongs to it, once, as a subscription of rxjs does', () => {
    for (const owner of [new OneTeardown(), new Subscription()]) {
      const seen: string[] = [];
      const child = new Subscription(() => seen.push('child'));
      const removed = new Subscription(() => seen.push('removed'));
      owner.add(() => seen.push('function'));
      owner.add({ unsubscribe: () => seen.push('object') });
      owner.add(child);
      owner.add(child);
      owner.add(removed);
      owner.add(undefined);
      owner.add(owner);
      owner.remove(removed);
      owner.unsubscribe();
      owner.unsubscribe();
      owner.add(() => seen.push('late'));
      expect([...seen].sort()).toStrictEqual(['child', 'function', 'late', 'object']);
      expect([child.closed, removed.closed]).toStrictEqual([true, false]);
    }
  });

  it('keeps no subscription that has ended, and removes the one that it keeps', () => {
    const owner = new OneTeardown();
    const ended = new Subscription();
    const kept = new Subscription();
    owner.add(ended);
    ended.unsubscribe();
    owner.add(kept);
    expect(Object.values(owner)).not.toContain(ended);
    owner.remove(kept);
    owner.unsubscribe();
    expect(kept.closed).toBe(false);
  });

  it('is closed before anything is torn down, and tears the rest down although one throws', () => {
    const owner = new OneTeardown();
    const seen: unknown[] = [];
    owner.add(() => seen.push(owner.closed));
    owner.add(() => {
      throw new Error('broken');
    });
    expect(() => owner.unsubscribe()).toThrow('broken');
    expect(seen).toStrictEqual([true]);
  });
});
