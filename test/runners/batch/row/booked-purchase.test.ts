import { describe, expect, it } from 'vitest';
import type { OutcomeRecord, ReplyRecord } from '../../../../runners/batch/journal/record.js';
import { isBookedPurchase } from '../../../../runners/batch/row/records-of.js';

const facts = { at: 9, id: 'a', cost: 87_500, statusCalls: 0 };
const reply: ReplyRecord = { ...facts, k: 'reply', source: 'reported', submittedAt: 5, output: {} };
const purchase = { row: 1, attempt: 2, endpoint: 'e', settledAt: 9 };

function failed(code: 'download' | 'deadline', more: object = {}): OutcomeRecord {
  const error = { code, message: 'no', retryable: true, paid: 'yes' as const };
  return { ...facts, k: 'outcome', source: 'reported', status: 'failed', submittedAt: 5, error, ...more };
}

describe('isBookedPurchase', () => {
  it('is true once an outcome came of the reply, also where that one told of no purchase itself', () => {
    expect(isBookedPurchase({ reply, outcome: failed('download', { purchase }) })).toBe(true);
    expect(isBookedPurchase({ reply, outcome: failed('download') })).toBe(true);
    expect(isBookedPurchase({ reply, outcome: { ...failed('download'), status: 'completed' } })).toBe(true);
  });

  it('is false where the outcome is of an earlier purchase, or told of no reply', () => {
    expect(isBookedPurchase({ reply, outcome: failed('download', { submittedAt: 3 }) })).toBe(false);
    expect(isBookedPurchase({ reply, outcome: failed('deadline', { source: 'unknown' }) })).toBe(false);
    expect(isBookedPurchase({ reply })).toBe(false);
  });
});
