import { describe, expect, it } from 'vitest';
import type { RunStatus } from '../../../../runners/batch/read-status.js';
import { statusText } from '../../../../runners/cli/messages/status-text.js';

const cost = { reported: 0, estimated: 0, unknown: 0, possiblyDouble: 0, unpriced: 0, byResolution: {} };
const rows = { total: 10, completed: 4, failed: 0, toDo: 6 };
const begun = '2026-01-01T00:00:00.000Z';
const status: RunStatus = {
  ...{ isRunning: true, rows, failures: {}, held: [], starts: 1, statusCalls: 9 },
  pending: { sent: 0, accepted: 0, replied: 0 },
  cost: { ...cost, reserved: 0 },
  times: { firstStartAt: begun, lastStartAt: begun },
};
const thisStart = { ended: 4, completed: 4, failed: 0, unknown: 0 };
const summary = {
  ...{ rows, failures: {}, cost: { ...cost, drift: 0 }, statusCalls: 9, starts: 1, prices: {} },
  times: { firstStartAt: begun, startedAt: begun },
};
const textOf = (start: object): string =>
  statusText(
    { ...status, summary: { ...summary, thisStart: { ...thisStart, ...start } } },
    'out',
    Date.parse(begun) + 60_000,
  ).join('\n');

describe('the text of status', () => {
  it('says how many rows and requests the service was found to take', () => {
    expect(textOf({ concurrency: 21, rate: 140.4 })).toContain(
      'at most      21 rows in flight, 140 requests a second',
    );
    expect(textOf({ concurrency: 1 })).toMatch(/at most {6}1 row in flight$/m);
  });

  it('says nothing of limits that were never written', () => {
    expect(textOf({})).not.toContain('at most');
  });
});
