import { EMPTY, lastValueFrom, NEVER } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { awaitCheckpoint } from '../../../../src/operators/purchase/job-spec.js';
import { inVirtualTime } from '../../../support/virtual-time.js';

const event = { type: 'accepted', jobId: 'j' } as const;

describe('awaitCheckpoint', () => {
  it('completes when the checkpoint does, whatever that emits', () => {
    inVirtualTime(({ cold, expectObservable, expectSubscriptions }) => {
      const durable = cold('-a-b-|');
      expectObservable(awaitCheckpoint(() => durable, event)).toBe('-----|');
      expectObservable(awaitCheckpoint(() => EMPTY, event)).toBe('|');
      expectObservable(awaitCheckpoint(() => NEVER, event)).toBe('-');
      expectObservable(awaitCheckpoint(undefined, event)).toBe('|');
      expectSubscriptions(durable.subscriptions).toBe('^----!');
    });
  });

  it('errors when the checkpoint errors or throws', () => {
    inVirtualTime(({ cold, expectObservable }) => {
      expectObservable(awaitCheckpoint(() => cold('-#'), event)).toBe('-#');
      const broken = (): never => {
        throw new Error('broken');
      };
      expectObservable(awaitCheckpoint(broken, event)).toBe('#', undefined, new Error('broken'));
    });
  });

  it.each([undefined, 5])(
    'refuses a checkpoint that returns %s, and says what it should return',
    async (nothing) => {
      const awaited = awaitCheckpoint((() => nothing) as never, event);
      await expect(lastValueFrom(awaited)).rejects.toMatchObject({
        code: 'invalid-option',
        message: `checkpoint: is not a function that returns a promise or a stream, as an async one does (got ${nothing})`,
      });
    },
  );

  it('passes the event at each subscription, and unsubscribes', () => {
    inVirtualTime(({ cold, flush, expectObservable, expectSubscriptions }) => {
      const events: unknown[] = [];
      const durable = cold('----|');
      const awaited = awaitCheckpoint((given) => (events.push(given), durable), event);
      expectObservable(awaited, '^-!').toBe('--');
      expectSubscriptions(durable.subscriptions).toBe('^-!');
      flush();
      expect(events).toStrictEqual([event]);
    });
  });
});
