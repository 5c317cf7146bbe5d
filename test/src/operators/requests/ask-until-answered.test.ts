import { describe, expect, it } from 'vitest';
import { askUntilAnswered, type Question } from '../../../../src/operators/requests/ask-until-answered.js';
import { openGate } from '../../../../src/policy/gates/built-in-gates.js';
import type { Transport } from '../../../../src/transport/transport.js';
import {
  inVirtualTime,
  replied,
  requestTo,
  virtualContext,
  type Virtual,
} from '../../../support/virtual-time.js';

const replies = {
  j: replied(200, { id: 'j', status: 'IN_PROGRESS' }),
  x: replied(502, 'bad gateway'),
  l: replied(429, 'slow', { 'retry-after': '1' }),
};
const question = (more: Partial<Question> = {}): Question => ({
  purpose: 'poll',
  request: requestTo('/v2/e/status/j', 'GET'),
  key: 'k',
  backoff: { initialMs: 3, factor: 2, maxMs: 100 },
  mayAskAgain: () => true,
  ...more,
});
/** Answers each request with the next of these marbles. */
const scripted = (cold: Virtual['cold'], ...marbles: string[]) => {
  const streams = marbles.map((line) => cold(line, replies, new Error('gone')));
  let at = 0;
  const transport: Transport = () => streams[at++]!;
  return { streams, transport };
};
const answered = { type: 'answered', judged: expect.objectContaining({ verdict: { verdict: 'answer' } }) };
const waiting = (forMs: number, why = 'backoff') => ({ type: 'waiting', why, forMs });

describe('askUntilAnswered', () => {
  it('gives the answer', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const { transport, streams } = scripted(cold, '--j|');
      expectObservable(askUntilAnswered(question(), virtualContext(scheduler, transport))).toBe('--(a|)', {
        a: answered,
      });
      expectSubscriptions(streams[0]!.subscriptions).toBe('^-!');
    });
  });

  it('asks again after ever longer waits', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const { transport, streams } = scripted(cold, '-x|', '-#', '-j|');
      const calls: number[] = [];
      const asked = askUntilAnswered(
        question({ onCall: () => calls.push(scheduler.now()) }),
        virtualContext(scheduler, transport),
      );
      expectObservable(asked).toBe('-w---v------(a|)', { w: waiting(3), v: waiting(6), a: answered });
      expectSubscriptions(streams[1]!.subscriptions).toBe('----^!');
      expectSubscriptions(streams[2]!.subscriptions).toBe('-----------^!');
      scheduler.schedule(() => expect(calls).toStrictEqual([0, 4, 11]), 20);
    });
  });

  it('says so when it is asked to slow down', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const { transport } = scripted(cold, '-l|', '(j|)');
      const context = virtualContext(scheduler, transport, {
        gate: openGate({ scheduler, random: () => 1 }),
      });
      expectObservable(askUntilAnswered(question(), context)).toBe('-w 999ms (a|)', {
        w: waiting(1_000, 'rate-limited'),
        a: answered,
      });
    });
  });

  it('gives the last exchange when it may not ask again', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const { transport } = scripted(cold, '-x|', '-x|');
      const asked: number[] = [];
      const mayAskAgain = (_judged: unknown, failures: number) => asked.push(failures) < 2;
      const last = {
        type: 'answered',
        judged: expect.objectContaining({ reading: expect.objectContaining({ status: 502 }) }),
      };
      const result = askUntilAnswered(question({ mayAskAgain }), virtualContext(scheduler, transport));
      expectObservable(result).toBe('-w---(l|)', { w: waiting(3), l: last });
      scheduler.schedule(() => expect(asked).toStrictEqual([1, 2]), 20);
    });
  });

  it('stops waiting and asking when it is unsubscribed', () => {
    inVirtualTime(({ cold, scheduler, expectObservable, expectSubscriptions }) => {
      const { transport, streams } = scripted(cold, '-x|', '-j|');
      expectObservable(askUntilAnswered(question(), virtualContext(scheduler, transport)), '^-!').toBe('-w', {
        w: waiting(3),
      });
      expectSubscriptions(streams[1]!.subscriptions).toBe([]);
    });
  });

  it('errors with what its functions throw', () => {
    inVirtualTime(({ cold, scheduler, expectObservable }) => {
      const { transport } = scripted(cold, '-x|');
      const broken = (): never => {
        throw new Error('broken');
      };
      const result = askUntilAnswered(
        question({ mayAskAgain: broken }),
        virtualContext(scheduler, transport),
      );
      expectObservable(result).toBe('-#', undefined, new Error('broken'));
    });
  });
});
