import { describe, expect, it } from 'vitest';
import type { InvalidProblem } from '../../../../runners/batch/manifest/problem-tally.js';
import { invalidText, planJson, planText, priceText } from '../../../../runners/cli/messages/plan-text.js';
import { planWith } from '../../../support/whole-values.js';

const plan = planWith({
  rows: 1200,
  byKind: { edit: 1199, job: 1, route: 0 },
  byResolution: { '1k': 1000, '4k': 199 },
  repeats: 2,
  warnings: ['column "Resolution" is not sent: did you mean "resolution"?'],
  columnsSent: ['images', 'prompt'],
  columnsNotSent: ['note', 'a\u001b[2Jb'],
  imagesBeyondRecommended: 1,
  cost: { estimated: 122_325_000, unpriced: 1 },
});

describe('planText', () => {
  it('counts the invalid rows, and speaks of a single row in the singular', () => {
    const first = (rows: number, invalid: number): string | undefined =>
      planText({ ...plan, rows, invalid }, 'edits.csv')[0];
    expect([first(7, 0), first(7, 1), first(1, 1)]).toEqual([
      'edits.csv: 7 rows',
      'edits.csv: 7 rows, 1 of them invalid',
      'edits.csv: 1 row, which is invalid',
    ]);
  });

  it('says what is in a manifest, and what to look at', () => {
    expect(planText(plan, 'edits.csv')).toEqual([
      'edits.csv: 1,200 rows',
      '  kinds        edit 1,199, job 1',
      '  resolutions  1k 1,000, 4k 199',
      '  repeats      2 rows that repeat the request of an earlier row; each is bought',
      '  many images  1 row with more than the recommended 1 to 3',
      '  sent         images, prompt',
      '  not sent     note, ab',
      '  warning: column "Resolution" is not sent: did you mean "resolution"?',
    ]);
  });
});

describe('what a plan says in one line', () => {
  const lineOf = (name: string, given: Partial<typeof plan>): string =>
    planText({ ...plan, ...given }, 'edits.csv').find((line) => line.startsWith(`  ${name} `)) ?? '';

  it('says of rows without an id where their names come from [fault 25]', () => {
    expect(lineOf('ids', { derivedIds: 2 })).toBe(
      '  ids          2 rows have none: each is named by its request, and is a new row once that changes',
    );
    expect(lineOf('ids', {})).toBe('');
    expect(lineOf('repeats', { repeats: 1 })).toBe(
      '  repeats      1 row that repeats the request of an earlier row; each is bought',
    );
  });

  it('names columns that --set fills in apart from those that are not sent', () => {
    const given = { columnsNotSent: ['style', 'note'], columnsFilledIn: ['style'] };
    expect(lineOf('filled in', given)).toBe('  filled in    style, by --set');
    expect(lineOf('not sent', given)).toBe('  not sent     note');
    expect(lineOf('not sent', { ...given, columnsNotSent: ['style'] })).toBe('');
  });

  it('says of a manifest of rejected rows what its column redo does, and does not list it as the own of a person', () => {
    const redo = { columnsNotSent: ['redo', 'redo.attempt', 'note'] };
    expect(lineOf('not sent', redo)).toBe('  not sent     note');
    expect(lineOf('redo', redo)).toBe(
      '  redo         its rows are bought again; with --out of their run, in place of the results that they name',
    );
  });

  it('names the first priorities, with prices where one is known', () => {
    const level = (priority: number, estimated = 0) => ({ priority, rows: 7, estimated, unpriced: 7 });
    expect(lineOf('priority', { priorities: [level(3), level(2), level(0)] })).toBe(
      '  priority     first 7 at 3, then 7 at 2, then 7 at 0',
    );
    const many = [9, 8, 7, 6, 5, 4].map((priority) => ({ ...level(priority, 10_000), unpriced: 0 }));
    expect(lineOf('priority', { priorities: many })).toBe(
      '  priority     first 7 at 9 ($0.01), then 7 at 8 ($0.01), then 7 at 7 ($0.01), then 7 at 6 ($0.01), then 14 at 2 lower ones',
    );
  });
});

describe('priceText', () => {
  it.each([
    [122_325_000, 0, '$122.325'],
    [122_325_000, 1, '$122.325 and 1 row of no known price'],
    [0, 2, '2 rows of no known price'],
    [0, 0, '$0.00'],
  ])('%i and %i unpriced', (estimated, unpriced, text) => {
    expect(priceText({ estimated, unpriced })).toBe(text);
  });
});

describe('invalidText', () => {
  it('names file, line, row, column and rule of each problem', () => {
    const problems: InvalidProblem[] = [
      {
        first: {
          row: 1,
          line: 2,
          id: 'cat',
          problems: [{ column: 'resolution', message: '"8k" is not 1k' }],
        },
        rows: 1,
        lines: [2],
      },
      { first: { row: 5, line: 9, problems: [{ message: 'holds nothing' }] }, rows: 2, lines: [9, 12] },
      {
        first: { row: 5, line: 9, problems: [{ column: 'kind', message: 'no' }] },
        rows: 30,
        lines: [9, ...Array.from({ length: 19 }, (_, index) => 11 + index)],
      },
    ];
    expect(invalidText({ ...plan, problems, otherProblems: 2 }, 'edits.csv')).toEqual([
      'edits.csv, line 2 (row 1, id "cat"), column resolution: "8k" is not 1k',
      'edits.csv, line 9 (row 5): holds nothing',
      '  1 other row is like it: line 12',
      'edits.csv, line 9 (row 5), column kind: no',
      '  29 other rows are like it: lines 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, …',
      '… and 2 further problems',
    ]);
  });
});

describe('invalidText of rows that were multiplied', () => {
  const first: InvalidProblem['first'] = { row: 1, line: 2, problems: [{ message: 'holds nothing' }] };

  it.each([
    [2, [2], '  1 other row of this line is like it'],
    [6, [2], '  5 other rows of this line are like it'],
    [3, [2, 3], '  2 other rows are like it: lines 2, 3'],
  ])('names each line once: %d rows of lines %j', (rows, lines, text) => {
    const printed = invalidText(
      { ...plan, problems: [{ first, rows, lines }], otherProblems: 0 },
      'edits.csv',
    );
    expect(printed).toEqual(['edits.csv, line 2 (row 1): holds nothing', text]);
  });
});

describe('planJson', () => {
  it('prints money in dollars', () => {
    expect(planJson(plan)).toMatchObject({
      rows: 1200,
      invalid: 0,
      repeats: 2,
      cost: { estimated: 122.325 },
    });
  });
});
