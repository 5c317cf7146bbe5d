import { describe, expect, it } from 'vitest';
import { failureText, outcomeText } from '../../../../runners/cli/messages/outcome-text.js';
import { summaryWith } from '../../../support/whole-values.js';

const summary = summaryWith({
  rows: { total: 1000, completed: 940, failed: 12, toDo: 48 },
  failures: { 'job-failed': 9, unknown: 3 },
  cost: { reported: 82.25, unknown: 0.2625, cap: 100 },
});

describe('outcomeText', () => {
  it('gives counts and money', () => {
    expect(outcomeText(summary)).toEqual([
      '  completed    940 of 1,000 rows',
      '  failed       12   job-failed 9, unknown 3',
      '  to be done   48',
      '  cost         $82.25 reported, $0.2625 held for what may have been bought, cap $100.00',
    ]);
  });

  it('tells what is reserved for rows on their way', () => {
    const { cost } = summary;
    expect(outcomeText({ ...summary, cost: { ...cost, reserved: 0.175 } }).at(-1)).toContain(
      '$82.25 reported, $0.175 reserved for what may be on its way, $0.2625 held',
    );
  });

  it('says no more than there is to say', () => {
    const cost = {
      reported: 82.25,
      estimated: 0,
      unknown: 0,
      possiblyDouble: 0,
      unpriced: 0,
      byResolution: {},
    };
    const rows = { total: 1, completed: 1, failed: 0, toDo: 0 };
    expect(outcomeText({ rows, failures: {}, cost })).toEqual([
      '  completed    1 of 1 row',
      '  cost         $82.25 reported',
    ]);
  });
});

describe('failureText', () => {
  it('names each cause, some ids, and what to do', () => {
    expect(
      failureText([
        { code: 'job-failed', message: 'cannot read the image', count: 9, ids: ['a', 'b', 'c', 'd', 'e'] },
        { code: 'unknown', message: undefined, count: 1, ids: ['x\u001b[2J'] },
      ]),
    ).toEqual([
      '  9 rows job-failed: cannot read the image',
      '    ids a, b, c, d, e, …',
      '    once the cause is gone, run again with --retry failed: nothing was bought',
      '  1 row unknown, of various causes',
      '    id x',
      '    they may have been bought: look at the account, then `millrace settle FOLDER ID`, or --retry unknown to risk paying twice',
    ]);
  });

  it('does not build a wall of causes', () => {
    const groups = Array.from({ length: 30 }, (_, n) => ({
      code: 'job-failed' as const,
      message: `m${n}`,
      count: 1,
      ids: ['a'],
    }));
    const lines = failureText(groups);
    expect(lines).toHaveLength(31);
    expect(lines.at(-1)).toBe('  … and 20 rows of other causes: see failures.jsonl');
  });
});
