import { describe, expect, it } from 'vitest';
import type { OutcomeRecord, ReplyRecord } from '../../../../runners/batch/journal/record.js';
import { intentOfRow, intentRecord, isBookedPurchase } from '../../../../runners/batch/row/records-of.js';
import { RowInFlight } from '../../../../runners/batch/row/row-in-flight.js';

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

describe('intentOfRow', () => {
  const input = { prompt: 'blue' };
  const row = {
    id: 'a',
    row: 1,
    hash: 'h',
    kind: 'job',
    endpoint: 'e',
    mode: 'async',
    resolution: '2k',
    request: { kind: 'job', input },
    cells: { prompt: 'blue' },
    columns: { colour: 'blue' },
  } as const;
  const intended = { at: 5, attempt: 3, price: 87_500 };

  it.each(['h', 'another'])(
    'is the one in the journal once the job is accepted, which it is not kept for [%s]',
    (asked) => {
      const flight = new RowInFlight({ what: 'send', row, attempts: 2 });
      expect(intentOfRow(flight.progress)).toBeUndefined();
      const intent = intentRecord(row, intended, asked);
      flight.change({ price: intended.price });
      flight.take(intent);
      expect(intentOfRow(flight.progress)).toBe(intent);
      flight.take({ k: 'accepted', at: 6, id: 'a', jobId: 'j' });
      expect(flight.progress.intent).toBeUndefined();
      expect(intentOfRow(flight.progress)).toStrictEqual(intent);
      expect(JSON.stringify(intentOfRow(flight.progress))).toBe(JSON.stringify(intent));
    },
  );

  it('is that of an earlier start where its job is polled, and none where it was bought elsewhere', () => {
    const intent = intentRecord(row, { ...intended, takes: 'job', jobId: 'j' }, 'h');
    const task = { what: 'poll', row, attempts: 3, jobId: 'j', submittedAt: 5 } as const;
    expect(intentOfRow(new RowInFlight({ ...task, intent }).progress)).toBe(intent);
    expect(intentOfRow(new RowInFlight(task).progress)).toBeUndefined();
  });
});
