import { describe, it } from 'vitest';
import { waitUntil } from '../../../../src/operators/timers/call-at.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

describe('waitUntil', () => {
  it('completes at its time without a value', () => {
    inVirtualTime(({ expectObservable, scheduler }) => {
      expectObservable(waitUntil(7, scheduler)).toBe('-------|');
    });
  });

  it('completes at once when its time is past', () => {
    inVirtualTime(({ expectObservable, scheduler }) => {
      expectObservable(waitUntil(0, scheduler)).toBe('|');
      expectObservable(waitUntil(-5, scheduler)).toBe('|');
    });
  });

  it('waits longer than one timer can', () => {
    inVirtualTime(({ expectObservable, scheduler }) => {
      const days = 60 * 24 * 3_600_000;
      expectObservable(waitUntil(days, scheduler)).toBe(`${days}ms |`);
    });
  });

  it('leaves no timer behind', () => {
    inVirtualTime(({ expectObservable, scheduler }) => {
      expectObservable(waitUntil(100, scheduler), '^--!').toBe('----');
    });
  });
});
