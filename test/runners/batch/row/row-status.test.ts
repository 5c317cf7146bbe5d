import { expect, it } from 'vitest';
import { failureCodes } from '../../../../src/contract/failure-code.js';
import type { RowStatus } from '../../../../runners/batch/row/row-status.js';
import { statusBytes, statusOf } from '../../../../runners/batch/row/row-status.js';

it('holds every status in a byte of its own', () => {
  const all = ['open', 'sent', 'accepted', 'replied', 'completed', ...Object.keys(failureCodes)];
  const bytes = all.map((status) => statusBytes[status as RowStatus]);
  expect(new Set(bytes).size).toBe(all.length);
  expect(bytes.map(statusOf)).toEqual(all);
});
