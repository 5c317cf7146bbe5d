import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { pageDataOf } from '../../../../runners/report/page-data-of.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { makeRun } from '../../../support/make-run.js';
import { reportFolder } from '../../../support/report-folder.js';

const result = (row: number, more: object = {}): object => ({
  id: `r${row}`,
  row,
  kind: 'edit',
  endpoint: 'e',
  jobId: `j${row}`,
  status: 'completed',
  output: {},
  cost: 0.0875,
  delayTime: 10,
  executionTime: 20,
  attempts: 1,
  submittedAt: '2026-01-01T00:00:00.000Z',
  settledAt: '2026-01-01T00:01:00.000Z',
  request: { input: { images: [], prompt: 'p' } },
  columns: {},
  ...more,
});
const failure = (row: number, error: object): object => ({
  id: `r${row}`,
  error: { code: 'job-failed', message: 'boom', paid: 'no', ...error },
  millrace: { row, settledAt: '2026-01-01T00:01:30.000Z' },
});

describe('surveyRun', () => {
  it('adds up what a run left', async () => {
    const parent = await reportFolder();
    const folder = join(parent, 'edits.out');
    await makeRun({ folder, rows: 120, pictures: false, maxCost: 40, toDo: 7 });
    const survey = await surveyRun(nodeDisk, folder);
    expect(survey.rows.places.slice(0, Infinity).map(({ row }) => row)).toEqual(
      Array.from({ length: 120 }, (_, index) => index + 1),
    );
    const failed = survey.rows.causes.reduce((sum, { count }) => sum + count, 0);
    expect(survey.rows.completed + failed).toBe(120);
    expect(survey).toMatchObject({ name: 'edits.csv', toDo: 7, cap: 40_000_000, heldRows: 1 });
    const { total, byResolution, spending } = survey.money;
    const parts = [...byResolution.values()];
    expect(parts.reduce((sum, { reported, estimated }) => sum + reported + estimated, 0)).toBe(
      total.reported + total.estimated,
    );
    expect(spending.length).toBeGreaterThanOrEqual(total.purchases);
    expect(survey.spans.length).toBe(2);
  });

  it('counts a row that is bought again once, by its state, and keeps its latest picture', async () => {
    const records = [
      { k: 'start', identity: {}, settings: {} },
      ...[1, 2, 3, 4].map((row) => ({ k: 'reopen', id: `r${row}`, why: 'redo' })),
      ...['completed', 'failed'].map((status, at) => ({ k: 'outcome', id: `r${at + 1}`, status })),
      { k: 'outcome', id: 'r5', status: 'completed' },
    ];
    const again = (row: number): object => result(row, { jobId: 'new', attempts: 2 });
    const folder = await reportFolder({
      'journal.jsonl': records.map((record, at) => ({ n: at + 1, ...record })),
      'results.jsonl': [result(1), result(2), result(3), result(4), result(5), again(1)],
      'earlier.jsonl': [result(1)],
      'failures.jsonl': [failure(2, {})],
      'summary.json': [{ rows: { total: 5, completed: 2, failed: 1, toDo: 2 } }],
    });
    const survey = await surveyRun(nodeDisk, folder);
    const { rows, earlier, toDo } = survey;
    const { classes, rows: classOf } = pageDataOf(survey, { kind: 'inline' });
    expect(classes.map(({ label, count }) => [label, count])).toEqual([
      ...[
        ['Completed', 1],
        ['Bought again', 1],
        ['To go', 2],
        ['To go', 0],
      ],
      ['boom', 1],
    ]);
    expect(classOf).toBe('0104020200');
    expect({ completed: rows.completed, toGo: rows.toGo, toDo }).toEqual({ completed: 2, toGo: 2, toDo: 2 });
    const lines = (await readFile(join(folder, 'results.jsonl'), 'utf8')).split('\n');
    const offsetOf = (line: number): number => lines.slice(0, line).join('\n').length + (line > 0 ? 1 : 0);
    expect(rows.places.slice(0, Infinity)).toMatchObject([
      { row: 1, file: 'results.jsonl', offset: offsetOf(5), again: true, toGo: false },
      { row: 2, file: 'failures.jsonl', again: true, toGo: false },
      { row: 3, file: 'results.jsonl', offset: offsetOf(2), again: false, toGo: true },
      { row: 4, file: 'results.jsonl', again: false, toGo: true },
      { row: 5, file: 'results.jsonl', again: false, toGo: false },
    ]);
    expect(earlier.get('r1')).toMatchObject([{ file: 'earlier.jsonl' }]);
    expect(earlier.get('r2')).toMatchObject([{ file: 'results.jsonl', offset: offsetOf(1) }]);
  });

  it('orders rows by the manifest, whatever order they ended in, and counts equal causes together', async () => {
    const folder = await reportFolder({
      'results.jsonl': [result(3), result(1)],
      'failures.jsonl': [
        failure(4, { message: 'item 1 is bad' }),
        failure(2, { message: 'once' }),
        failure(5, { message: 'item 2 is bad' }),
      ],
    });
    const { rows } = await surveyRun(nodeDisk, folder);
    expect(rows.places.slice(0, Infinity).map(({ row, cause }) => [row, cause])).toEqual([
      [1, 0],
      [2, 2],
      [3, 0],
      [4, 1],
      [5, 1],
    ]);
    expect(rows.causes).toMatchObject([
      { wording: 'item … is bad', count: 2, ids: ['r4', 'r5'] },
      { message: 'once', count: 1, ids: ['r2'] },
    ]);
  });

  it('gathers what is beyond two hundred causes by code', async () => {
    const lines = Array.from({ length: 260 }, (_, n) =>
      failure(n, {
        message: `cause ${'abcdefghij'[n % 10]!}${'klmnopqrst'[Math.floor(n / 10) % 10]!}${'uvw'[Math.floor(n / 100)]!}`,
      }),
    );
    const { rows } = await surveyRun(nodeDisk, await reportFolder({ 'failures.jsonl': lines }));
    expect(rows.causes.length).toBe(201);
    expect(rows.causes[0]).toMatchObject({ wording: 'various causes', count: 60 });
  });

  it('has the same key wherever the folder lies, and another one for another run', async () => {
    const start = {
      k: 'start',
      at: 5,
      version: '1',
      identity: { baseUrl: 'https://a.test', lbBaseUrl: '', local: false },
      manifest: 'a.csv',
      settings: {},
    };
    const key = async (at: number): Promise<string> =>
      (await surveyRun(nodeDisk, await reportFolder({ 'journal.jsonl': [{ ...start, at }] }))).key;
    expect(await key(5)).toBe(await key(5));
    expect(await key(5)).not.toBe(await key(6));
  });

  it('takes the dearest price that was charged, else the list of the service', async () => {
    const folder = await reportFolder({
      'results.jsonl': [result(1, { cost: 0.12 }), result(2, { cost: 0.09 })],
    });
    expect((await surveyRun(nodeDisk, folder)).prices).toEqual({
      '1k': 120_000,
      '2k': 130_000,
      '4k': 175_000,
    });
  });

  it('surveys an empty folder, and lines that say less than they should', async () => {
    expect((await surveyRun(nodeDisk, await reportFolder())).rows.places.length).toBe(0);
    const odd = await reportFolder({
      'results.jsonl': [{}, { id: 7, row: 'x', image: 3 }],
      'failures.jsonl': [{ error: 'x' }, { id: 'a', error: { code: 'constructor' } }],
      'costs.csv': 'id\n1\n',
      'summary.json': '[]',
      'journal.jsonl': [{ k: 'start' }],
    });
    expect((await surveyRun(nodeDisk, odd)).rows).toMatchObject({
      completed: 2,
      causes: [{ code: 'unknown', count: 2 }],
    });
  });
});
