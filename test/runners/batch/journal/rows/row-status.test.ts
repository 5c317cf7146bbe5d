import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../../../../src/contract/failure-code.js';
import { statusByte, statusOf } from '../../../../../runners/batch/journal/rows/row-status.js';

describe('statusByte and statusOf', () => {
  it('hold every status in a byte of its own', () => {
    const all = ['open', 'sent', 'accepted', 'replied', 'completed', ...Object.keys(failureCodes)];
    const bytes = all.map((status) => statusByte(status)!);
    expect(new Set(bytes).size).toBe(all.length);
    expect(bytes.map(statusOf)).toEqual(all);
  });

  it('know no other word', () => {
    expect(statusByte('exploded')).toBeUndefined();
  });
});
