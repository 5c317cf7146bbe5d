import { expect, it } from 'vitest';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { originalRows } from '../../../../runners/report/survey/original-rows.js';
import { readStory } from '../../../../runners/report/survey/run-story.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { reportFolder } from '../../../support/report-folder.js';

const start = (manifest: string): object => ({ k: 'start', at: 1, manifest });
const intent = (id: string, row: number): object => ({ k: 'intent', at: 2, id, row });
const journal = [
  start('edits.csv'),
  intent('a', 1),
  intent('b', 2),
  intent('c', 3),
  start('edits.redo.csv'),
  intent('c', 1),
  intent('d', 2),
  start('edits.csv'),
  intent('e', 5),
];

it('knows where rows stood in the first manifest that a later one sent again', async () => {
  const folder = await reportFolder({ 'journal.jsonl': journal });
  const rows = await originalRows(nodeDisk, folder, await readStory(nodeDisk, folder));
  expect([...rows]).toEqual([
    ['c', 3],
    ['d', 2],
  ]);
});

it('keeps the order of the gallery and the name of the run', async () => {
  const result = (id: string, row: number): object => ({ id, row });
  const folder = await reportFolder({
    'journal.jsonl': journal,
    'results.jsonl': [result('a', 1), result('b', 2), result('c', 1)],
  });
  const survey = await surveyRun(nodeDisk, folder);
  expect(survey.name).toBe('edits.csv');
  expect([...survey.rows.places].map(({ row }) => row)).toEqual([1, 2, 3]);
});
