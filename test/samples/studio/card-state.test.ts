import { describe, expect, it } from 'vitest';
import { cardState } from '../../../samples/studio/server/card-state.js';

const money = { capUsd: 1, spentUsd: 0, heldUsd: 0, isRehearsal: false };
const context = { before: { phase: 'working' }, resolution: '1k', money } as const;

describe('cardState', () => {
  it('leaves a card where it stands while a poll is tried again', () => {
    expect(cardState({ type: 'waiting', why: 'backoff', forMs: 1_200 }, context)).toEqual({
      phase: 'working',
      words: 'The service is busy or cannot be reached: again in 2 s',
    });
  });

  it.each([
    ['job-failed', 'no', 'The service could not make this picture: out of memory. Nothing was charged.'],
    [
      'unknown',
      'maybe',
      'GET /v2/e/status/j: FAILED: out of memory. In doubt: it may have been charged, and its price stays reserved.',
    ],
  ] as const)('says of %s what happened and what it cost', (code, paid, words) => {
    const message = 'GET /v2/e/status/j: FAILED: out of memory';
    const outcome = { status: 'failed', code, paid, message } as const;
    expect(cardState({ type: 'settled', outcome }, context)).toEqual({ phase: 'failed', words });
  });

  it('does not show a reference by an address that nobody knows', () => {
    const message = 'POST /v2/e/run: FAILED: invalid image URL http://127.0.0.1:1/pictures/a: not found';
    const outcome = { status: 'failed', code: 'rejected', paid: 'no', message } as const;
    expect(cardState({ type: 'settled', outcome }, context)).toMatchObject({
      words:
        'The service could not make this picture: the reference cannot be read: not found. Nothing was charged.',
    });
  });

  it('does not take an output without a picture for a picture', () => {
    const outcome = { status: 'completed', jobId: 'j', output: {}, costUsd: 0.0875 } as const;
    expect(cardState({ type: 'settled', outcome }, context)).toMatchObject({ phase: 'failed' });
  });
});
