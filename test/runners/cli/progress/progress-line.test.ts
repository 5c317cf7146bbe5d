import { describe, expect, it } from 'vitest';
import { progressLine } from '../../../../runners/cli/progress/render-progress.js';
import type { ProgressView } from '../../../../runners/cli/progress/progress-view.js';

const view: ProgressView = {
  rows: 1000,
  others: 0,
  endedBefore: 100,
  completed: 300,
  failed: 0,
  unknown: 0,
  undownloaded: 0,
  inFlight: 8,
  sending: 0,
  accepted: 0,
  queued: 5,
  isQueueOld: false,
  working: 3,
  saving: 0,
  concurrency: 8,
  rowsPerMinute: 42.4,
  leftMs: 960_000,
  money: { spent: 26_250_000, unknown: 0, cap: 100_000_000 },
  stillMs: 0,
  cause: undefined,
  stopping: false,
};

describe('progressLine', () => {
  it('says it all in one plain line', () => {
    expect(progressLine({ ...view, failed: 9, unknown: 3, cause: 'no reply for 40 s' })).toBe(
      '412 of 1,000 rows: 300 completed, 9 failed, 3 in doubt, 8 in flight, 100 done before; 42 rows a minute, 16 min left; $26.25 of $100.00 spent; no reply for 40 s',
    );
  });

  it('leaves out what is not known', () => {
    const early = { ...view, rowsPerMinute: undefined, leftMs: undefined, money: { spent: 0, unknown: 0 } };
    expect(progressLine(early)).toBe(
      '400 of 1,000 rows: 300 completed, 8 in flight, 100 done before; $0.00 spent',
    );
    expect(progressLine({ ...early, rows: undefined })).toBe('reading the manifest');
  });
});
