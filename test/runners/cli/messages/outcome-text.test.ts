import { describe, expect, it } from 'vitest';
import { failureCodes } from '../../../../src/contract/failure-code.js';
import { failureText, outcomeText, tookText } from '../../../../runners/cli/messages/outcome-text.js';
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
      '  failed       9   job-failed 9',
      '  in doubt     3   may have been charged',
      '  to go        48',
      '  cost         $82.25 reported, $0.2625 in doubt, cap $100.00',
    ]);
  });

  it('tells what is reserved for rows on their way', () => {
    const { cost } = summary;
    expect(outcomeText({ ...summary, cost: { ...cost, reserved: 0.175 } }).at(-1)).toContain(
      '$82.25 reported, $0.175 may still be charged, $0.2625 in doubt',
    );
  });

  it('names those of the rows to go that are on the way, and what the next start does with them', () => {
    const lineOf = (...given: Parameters<typeof outcomeText>) =>
      outcomeText(...given).find((line) => line.startsWith('  to go'));
    const pending = { sent: 1, accepted: 2, replied: 3 };
    expect(lineOf({ ...summary, pending })).toBe(
      '  to go        48   of them 1 sent and not answered (in doubt from the next start on), 2 accepted (the next start asks for them), 3 to be saved',
    );
    expect(lineOf({ ...summary, pending, isRunning: true })).toBe(
      '  to go        48   of them 1 sent and not answered, 2 accepted, 3 to be saved',
    );
    expect(lineOf({ ...summary, pending: { sent: 0, accepted: 2, replied: 0 } }, true)).toBe(
      '  to go        48   of them 2 accepted',
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

describe('tookText', () => {
  const times = {
    firstStartAt: '2026-11-22T08:00:00Z',
    startedAt: '2026-11-22T10:00:00Z',
    endedAt: '2026-11-22T10:00:42.400Z',
  };
  const took = (changes: object) =>
    tookText({ ...summary, times, thisStart: { ...summary.thisStart, ended: 12 }, starts: 1, ...changes });

  it('says how long the start took by the clock', () => {
    expect(took({})).toEqual(['  took         42 s']);
    expect(took({ starts: 2 })).toEqual(['  took         42 s, this start']);
    expect(took({ times: { ...times, endedAt: '2026-11-22T10:00:00.400Z' } })).toEqual([
      '  took         under 1 s',
    ]);
  });

  it('says nothing of a start in which nothing was to be done, or that was cut off', () => {
    const thisStart = { ...summary.thisStart, ended: 0 };
    expect(took({ thisStart, times: { ...times, endedAt: '2026-11-22T10:00:00.400Z' } })).toEqual([]);
    // It waited, and was interrupted.
    expect(took({ thisStart })).toEqual(['  took         42 s']);
    expect(took({ times: { firstStartAt: times.firstStartAt, startedAt: times.startedAt } })).toEqual([]);
  });
});

describe('outcomeText of a rehearsal', () => {
  it('says that nothing was spent', () =>
    expect(outcomeText(summary, true).at(-1)).toBe(
      '  cost         rehearsal, nothing spent; a real run: $82.25 reported, $0.2625 in doubt, cap $100.00',
    ));
});

describe('failureText', () => {
  const run = {
    manifest: 'a.csv',
    folder: 'a.out',
    options: ['--max-cost', '5'],
    isRehearsal: false,
    another: 'my.out-again',
  };
  const group = (code: 'job-failed' | 'unknown', count: number, message: string, ids: string[]) => ({
    code,
    count,
    message,
    wording: message,
    ids,
    paid: failureCodes[code].paid,
    edits: new Map([['1k', count]]),
  });

  it('names each cause, some ids, what it costs, what to do, and the command', () => {
    const groups = [
      group('job-failed', 9, 'cannot read the image', ['a', 'b', 'c', 'd', 'e', 'f']),
      group('unknown', 1, 'reset', ['x\u001b[2J']),
    ];
    expect(failureText(groups, run, { '1k': 87_500 })).toEqual([
      '  9 jobs failed (job-failed): cannot read the image',
      '    ids a, b, c, d, e, …',
      '    Not charged; sending them again costs $0.7875. The job crashed at the service. Try again; if it fails again, change the input:',
      '      millrace run a.csv --out a.out --max-cost 5 --retry job-failed',
      '  1 row in doubt (unknown): reset',
      '    id x',
      '    May have been charged, up to $0.0875. Look at your account, then decide; this lists the ways:',
      '      millrace settle a.out',
    ]);
  });

  it('does not build a wall of causes', () => {
    const groups = Array.from({ length: 30 }, (_, n) => group('job-failed', 1, `m${n}`, ['a']));
    const lines = failureText(groups, run, {});
    expect(lines).toHaveLength(41);
    expect(lines.at(-1)).toBe('  … and 20 rows of other causes: see failures.jsonl');
  });
});
