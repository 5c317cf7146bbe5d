import { EMPTY, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { awaitMark } from '../../../../src/operators/purchase/checkpoint-events.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

const mark = { type: 'accepted', jobId: 'j' } as const;

describe('awaitMark', () => {
  it('completes when the checkpoint does, whatever that emits', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const durable = cold('-a-b-|');
      expectObservable(awaitMark(() => durable, mark)).toBe('-----|');
      expectObservable(awaitMark(() => EMPTY, mark)).toBe('|');
      expectObservable(awaitMark(() => NEVER, mark)).toBe('-');
      expectObservable(awaitMark(undefined, mark)).toBe('|');
      expectSubscriptions(durable.subscriptions).toBe('^----!');
    });
  });

  it('errors when the checkpoint errors or throws', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(awaitMark(() => cold('-#'), mark)).toBe('-#');
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(awaitMark(broken, mark)).toBe('#', undefined, new Error('broken'));
    });
  });

  it('hands the mark over at each subscription, and unsubscribes', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const marks: unknown[] = [];
      const durable = cold('----|');
      const awaited = awaitMark((handed) => (marks.push(handed), durable), mark);
      expectObservable(awaited, '^-!').toBe('--');
      expectSubscriptions(durable.subscriptions).toBe('^-!');
      flush();
      expect(marks).toStrictEqual([mark]);
    });
  });
});
