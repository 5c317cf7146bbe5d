import { describe, expect, it } from 'vitest';
import { costLine, heldPurchase, jobKey, purchaseKey } from '../../../../runners/batch/sinks/cost-line.js';
import type { OutcomeRecord } from '../../../../runners/batch/journal/record.js';

function line(id: string, source: OutcomeRecord['source'], jobId?: string): string {
  const purchase = {
    row: 7,
    attempt: 2,
    endpoint: 'edit',
    resolution: '1k',
    settledAt: 0,
    ...(jobId !== undefined && { jobId }),
  };
  const facts = { k: 'outcome', at: 0, id, cost: 87_500, statusCalls: 0, status: 'completed' } as const;
  return costLine({ ...facts, source, purchase })?.trimEnd() ?? '';
}

describe('heldPurchase', () => {
  it.each(['a', 'with, comma', 'with "quotes"', 'two\nlines', '=cmd()', ',unknown,x', '007', 'ü🖼️'])(
    'knows the purchase of the row %j by its line',
    (id) => {
      for (const jobId of [undefined, 'j-1', id]) {
        const named = { ofAttempt: purchaseKey(id, 2), ofJob: jobKey(id, 2, jobId) };
        expect(heldPurchase(line(id, 'unknown', jobId))).toStrictEqual(named);
      }
      expect(heldPurchase(line(id, 'unknown'))?.ofAttempt).not.toBe(purchaseKey(id, 1));
      expect(heldPurchase(line(id, 'unknown', 'j'))?.ofJob).not.toBe(jobKey(id, 2, undefined));
    },
  );

  it.each(['reported', 'estimated'] as const)('is none where the cost is %s', (source) => {
    expect(heldPurchase(line('a', source))).toBeUndefined();
    expect(heldPurchase(line(',unknown,', source))).toBeUndefined();
  });
});
