import { describe, expect, it } from 'vitest';
import type { RunStatus } from '../../../../runners/batch/read-status.js';
import { statusText } from '../../../../runners/cli/messages/status-text.js';

const cost = { reported: 0, estimated: 0, unknown: 0, possiblyDouble: 0, unpriced: 0, byResolution: {} };
const rows = { total: 10, completed: 4, failed: 0, toDo: 6 };
const begun = '2026-01-01T00:00:00.000Z';
const status: RunStatus = {
  isRunning: true,
  rows,
  failures: {},
  held: [],
  starts: 1,
  statusCalls: 9,
  pending: { sent: 0, accepted: 0, replied: 0 },
  cost: { ...cost, reserved: 0 },
  times: { firstStartAt: begun, lastStartAt: begun },
};
const thisStart = { ended: 4, completed: 4, failed: 0, unknown: 0 };
const summary = {
  rows,
  failures: {},
  cost: { ...cost, drift: 0 },
  statusCalls: 9,
  starts: 1,
  prices: {},
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
    expect(textOf({ concurrency: 1, rate: 0.9 })).toContain('1 row in flight, 1 request a second');
  });

  it('says what the run says of its pace, and why nothing moves', () => {
    const at = Date.parse(begun) + 60_000;
    const linesOf = (live: object) =>
      statusText({ ...status, summary: { ...summary, thisStart } }, 'out', at, live);
    expect(linesOf({ rowsPerMinute: 28.2, leftMs: 30_000 })).toContain(
      '  pace         28 rows a minute, about 30 s left',
    );
    const still = linesOf({ cause: 'queue not moving for 57 s' }).join('\n');
    expect(still).toContain('  waiting      queue not moving for 57 s');
    expect(still).not.toMatch(/pace|left/);
  });

  it('names no time left of a process that says nothing of itself', () => {
    expect(textOf({})).toContain('  pace         4 rows a minute on average');
    expect(textOf({})).not.toContain('left');
  });

  it('counts status calls once no row is on the way: those about it are counted with its end', () => {
    const textAt = (accepted: number) =>
      statusText({ ...status, pending: { ...status.pending, accepted } }, 'out', Date.parse(begun)).join(
        '\n',
      );
    expect(textAt(0)).toContain('status calls 9');
    expect(textAt(3)).not.toContain('status calls');
  });

  it('says nothing of limits that were never written', () => {
    expect(textOf({})).not.toContain('at most');
  });
});
