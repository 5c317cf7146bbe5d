import { expect, it } from 'vitest';
import { failureCodes, type FailureCode } from '../../../../src/contract/failure-code.js';
import type { RowStatus } from '../../../../runners/batch/row/row-status.js';
import {
  mayBePaid,
  nextStatus,
  statusBytes,
  statusOf,
  statuses,
} from '../../../../runners/batch/row/row-status.js';

it('holds every status in a byte of its own', () => {
  const all = ['open', 'sent', 'accepted', 'replied', 'completed', ...Object.keys(failureCodes)];
  const bytes = all.map((status) => statusBytes[status as RowStatus]);
  expect(new Set(bytes).size).toBe(all.length);
  expect(bytes.map(statusOf)).toEqual(all);
});

it('is open again after a refusal only where the request was out: an accepted or paid row is not sent once more', () => {
  const refused = { k: 'refused', takes: '', end: 'unknown', to: '' } as const;
  const changed = statuses.filter((status) => nextStatus(status, refused) !== status);
  expect(changed).toEqual(['sent']);
  expect(nextStatus('sent', refused)).toBe('open');
});

it('may be paid in every state but these', () => {
  expect(statuses.filter((status) => !mayBePaid(status))).toEqual([
    ...['open', 'invalid-row', 'rejected', 'job-failed', 'job-cancelled', 'job-timed-out', 'route-not-found'],
    ...['route-failed', 'transport', 'malformed-reply'],
    ...Object.keys(failureCodes).filter((code) => failureCodes[code as FailureCode].scope === 'stop'),
  ]);
});
