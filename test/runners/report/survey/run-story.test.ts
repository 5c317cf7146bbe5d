import { describe, expect, it } from 'vitest';
import {
  spansOf,
  type RunStory,
  originalRows,
  readStory,
} from '../../../../runners/report/survey/run-story.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { surveyRun } from '../../../../runners/report/survey/survey-run.js';
import { reportFolder } from '../../../support/report-folder.js';

function story(starts: number[], stops: number[]): RunStory {
  return {
    starts: starts.map((at) => ({
      at,
      manifest: '',
      baseUrl: '',
      lbBaseUrl: '',
      local: false,
      repeat: { manifest: [], others: [] },
      axes: [],
      maxCost: undefined,
    })),
    stops: stops.map((at) => ({ at, exitCode: 0 })),
    isAtRest: true,
    reopened: new Map(),
  };
}

describe('spansOf', () => {
  it('ends a start at its stop, whenever a person settles its rows or fetches their pictures', () => {
    expect(spansOf(story([0, 90_000], [100, 90_200]), [50, 80_000, 90_100])).toEqual([
      { from: 0, to: 100 },
      { from: 90_000, to: 90_200 },
    ]);
    expect(spansOf(story([0], [100]), [50, 80_000])).toEqual([{ from: 0, to: 100 }]);
  });

  it('keeps a long pause between two starts apart', () => {
    expect(spansOf(story([0, 1000], [100, 1200]), [50, 1100])).toEqual([
      { from: 0, to: 100 },
      { from: 1000, to: 1200 },
    ]);
  });

  it('joins starts with hardly a pause between them', () => {
    expect(spansOf(story([0, 105], [100, 200]), [50, 150])).toEqual([{ from: 0, to: 200 }]);
  });

  it('ends a start that was killed with the last row it ended', () => {
    expect(spansOf(story([0, 1000], [1200]), [40, 90, 1100])).toEqual([
      { from: 0, to: 90 },
      { from: 1000, to: 1200 },
    ]);
  });

  it('goes by the rows alone without a journal', () => {
    expect(spansOf(story([], []), [40, 90])).toEqual([{ from: 40, to: 90 }]);
    expect(spansOf(story([], []), [])).toEqual([]);
  });
});

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
  expect(survey.rows.places.slice(0, Infinity).map(({ row }) => row)).toEqual([1, 2, 3]);
});
