import picocolors from 'picocolors';
import { describe, expect, it } from 'vitest';
import type { ProgressView } from '../../../../runners/cli/progress/progress-view.js';
import { renderProgress } from '../../../../runners/cli/progress/render-progress.js';

const plain = picocolors.createColors(false);
const paper = { columns: 80, colors: plain, unicode: true };
const view: ProgressView = {
  rows: 1000,
  others: 0,
  endedBefore: 0,
  completed: 300,
  failed: 9,
  unknown: 3,
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

describe('renderProgress', () => {
  it('fills three lines of 80 columns', () => {
    expect(renderProgress(view, paper)).toEqual([
      '312 of 1,000 rows  ━━━━━━━━━━━━────────────────────────────  31 %',
      '300 completed · 9 failed · 3 in doubt · 8 in flight (5 queued, 3 working)',
      '42 rows/min · 16 min left · $26.25 of $100.00 spent · concurrency 8',
    ]);
  });

  it('goes on in further lines at 40 columns', () => {
    expect(
      renderProgress(
        { ...view, cause: 'rate limited by the service, continuing in 26 s' },
        { ...paper, columns: 40 },
      ),
    ).toEqual([
      '312 of 1,000 rows  ━━━━──────────  31 %',
      '300 completed · 9 failed · 3 in doubt',
      '8 in flight (5 queued, 3 working)',
      '42 rows/min · 16 min left',
      '$26.25 of $100.00 spent · concurrency 8',
      'rate limited by the service, continuing',
      'in 26 s',
    ]);
  });

  it.each([20, 30, 40, 60, 80, 200])('never passes %i columns', (columns) => {
    const full = { ...view, endedBefore: 890, saving: 12, cause: 'x'.repeat(90), rows: 1_000_000 };
    for (const line of renderProgress(full, { ...paper, columns })) expect(line.length).toBeLessThan(columns);
  });

  it('needs neither colours nor box characters', () => {
    const lines = renderProgress(view, { ...paper, unicode: false }).join('\n');
    expect(lines).toMatch(/^[\x20-\x7e\n]+$/);
    expect(lines).toContain('############----------------------------');
  });

  it('paints what went wrong, without counting the paint as width', () => {
    const lines = renderProgress(view, { ...paper, colors: picocolors.createColors(true) });
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain(picocolors.createColors(true).red('9 failed'));
  });

  it('says what it does before the rows are counted, and while it stops', () => {
    const early = { ...view, rows: undefined, rowsPerMinute: undefined, leftMs: undefined };
    expect(renderProgress(early, paper)[0]).toBe('reading the manifest');
    expect(renderProgress({ ...view, stopping: true, cause: 'queue not moving' }, paper).at(-1)).toBe(
      'stopping: waiting for what is in flight',
    );
  });

  it('says that the limit was lowered while more than it are in flight still', () => {
    const lowered = { ...view, inFlight: 24, queued: 19, working: 5, concurrency: 4 };
    expect(renderProgress(lowered, paper)[2]).toBe(
      '42 rows/min · 16 min left · $26.25 of $100.00 spent · concurrency lowered to 4',
    );
    expect(renderProgress({ ...lowered, inFlight: 4 }, paper)[2]).toMatch(/ · concurrency 4$/);
  });

  it('is full when there is nothing to do', () => {
    expect(renderProgress({ ...view, rows: 0, completed: 0, failed: 0, unknown: 0 }, paper)[0]).toContain(
      '100 %',
    );
  });
});
