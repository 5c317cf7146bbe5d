import { fc, test } from '@fast-check/vitest';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it } from 'vitest';
import type { IntentRecord, OutcomeRecord, ReplyRecord } from '../../../../runners/batch/journal/record.js';
import { costLine } from '../../../../runners/batch/sinks/cost-line.js';
import { csvLine, lineId } from '../../../../runners/batch/sinks/line-text.js';
import {
  failureLine,
  failureColumns,
  failureSheetRow,
} from '../../../../runners/batch/sinks/failure-line.js';
import { resultLine, ownColumn, resultSheetRow } from '../../../../runners/batch/sinks/result-line.js';

const at = Date.UTC(2027, 0, 1);
const input = {
  images: ['https://e.test/a.png', 'https://e.test/b.png'],
  prompt: 'blue',
  style: { name: 'x' },
};
const intent: IntentRecord = {
  k: 'intent',
  at,
  id: 'a',
  row: 7,
  hash: 'ff',
  kind: 'edit',
  endpoint: 'image-edit',
  mode: 'sync',
  attempt: 2,
  price: 130_000,
  resolution: '2k',
  request: { kind: 'edit', input },
  cells: { id: 'a', images: 'a.png b.png', prompt: 'blue', note: 'mine' },
  columns: { note: 'mine' },
};
const reply: ReplyRecord = {
  k: 'reply',
  at: at + 9_000,
  id: 'a',
  jobId: 'j1',
  output: { cost: 0.13 },
  cost: 130_000,
  source: 'reported',
  delayTime: 3,
  executionTime: 20,
  statusCalls: 0,
  submittedAt: at,
};
const purchase = {
  row: 7,
  attempt: 2,
  jobId: 'j1',
  endpoint: 'image-edit',
  resolution: '2k',
  settledAt: at + 9_000,
};
const pictureless = {
  k: 'outcome',
  at: at + 9_500,
  id: 'a',
  cost: 130_000,
  source: 'reported',
  statusCalls: 0,
  submittedAt: at,
  status: 'completed',
  purchase,
} satisfies OutcomeRecord;
const completed = {
  ...pictureless,
  image: { path: 'images/a.png', bytes: 70, sha256: 'ab' },
} satisfies OutcomeRecord;
const error = { code: 'rejected', message: 'no', httpStatus: 400, retryable: false, paid: 'no' } as const;
const failed: OutcomeRecord = {
  k: 'outcome',
  at,
  id: 'a',
  cost: 0,
  source: 'estimated',
  statusCalls: 0,
  submittedAt: at,
  status: 'failed',
  jobId: 'j1',
  error,
  purchase,
};

describe('resultLine', () => {
  it('has every field that scripts rely on, in its order', () => {
    const line = resultLine({ intent, reply, outcome: completed });
    expect(line).toEqual({
      id: 'a',
      row: 7,
      kind: 'edit',
      endpoint: 'image-edit',
      jobId: 'j1',
      status: 'completed',
      output: { cost: 0.13 },
      image: { path: 'images/a.png', bytes: 70, sha256: 'ab' },
      cost: 0.13,
      delayTime: 3,
      executionTime: 20,
      attempts: 2,
      submittedAt: '2027-01-01T00:00:00.000Z',
      settledAt: '2027-01-01T00:00:09.000Z',
      request: { input },
      columns: { note: 'mine' },
    });
    expect(Object.keys(line ?? {}).join()).toBe(
      'id,row,kind,endpoint,jobId,status,output,image,cost,delayTime,executionTime,attempts,submittedAt,settledAt,request,columns',
    );
  });

  it('says where a picture lies that was not saved, and until when', () => {
    const line = resultLine({
      intent,
      reply: { ...reply, imageUrl: 'https://e.test/r.png' },
      outcome: pictureless,
    });
    expect(line?.image).toEqual({ url: 'https://e.test/r.png', expiresAt: '2027-01-08T00:00:09.000Z' });
  });

  it('has no job id and no cost on a route, and null for no output', () => {
    const request = { kind: 'route', method: 'GET', route: '/info' } as const;
    const rest: ReplyRecord = { ...reply, output: undefined, cost: null };
    delete rest.jobId;
    const line = resultLine({
      intent: { ...intent, kind: 'route', endpoint: '', request },
      reply: rest,
      outcome: completed,
    });
    expect(line).toMatchObject({ output: null, cost: null, request: { method: 'GET', route: '/info' } });
    expect(line).not.toHaveProperty('jobId');
  });

  it('is none for a failed row', () => {
    expect(resultLine({ intent, reply, outcome: failed })).toBeUndefined();
  });
});

describe('failureLine', () => {
  it('has the columns of the row at top level, then error and millrace', () => {
    expect(failureLine({ intent, outcome: failed })).toEqual({
      id: 'a',
      images: 'a.png b.png',
      prompt: 'blue',
      note: 'mine',
      error,
      millrace: {
        row: 7,
        kind: 'edit',
        endpoint: 'image-edit',
        jobId: 'j1',
        attempts: 2,
        submittedAt: '2027-01-01T00:00:00.000Z',
        settledAt: '2027-01-01T00:00:00.000Z',
      },
    });
  });

  it('goes by what the outcome says of a row that was never sent', () => {
    const row = { row: 3, hash: '', kind: null, endpoint: '', cells: { resolution: '8k' } };
    const line = failureLine({ outcome: { ...failed, id: 'derived', row } });
    expect(line).toMatchObject({
      id: 'derived',
      resolution: '8k',
      millrace: { row: 3, kind: null, attempts: 0 },
    });
    expect(Object.keys(line ?? {})[0]).toBe('id');
  });
});

describe('costLine', () => {
  it('is a line a purchase', () => {
    expect(costLine(completed)).toBe('a,7,2,j1,image-edit,2k,0.13,reported,2027-01-01T00:00:09.000Z\n');
    expect(costLine(failed)).toContain(',0,estimated,');
  });

  it('has an empty cost where nobody knows it, and is none where nothing was bought', () => {
    expect(costLine({ ...completed, cost: null, source: 'estimated' })).toContain(',2k,,estimated,');
    expect(costLine({ ...completed, source: 'none' })).toBeUndefined();
    const taken: OutcomeRecord = { ...completed };
    delete taken.purchase;
    expect(costLine(taken)).toBeUndefined();
  });
});

describe('csvLine', () => {
  it.each(['=cmd()', '+1', '-1', '@x', '\tx', '\rx'])(
    'escapes %j as spreadsheets need it [fault 29]',
    (cell) => {
      expect(csvLine([cell]).replace(/^"/, '').startsWith(`'${cell}`)).toBe(true);
    },
  );

  it('leaves numbers alone, quotes what needs it, and writes objects as JSON', () => {
    expect(csvLine([-5, 'a,b', 'x"y', { a: 1 }, undefined, null, true])).toBe(
      '-5,"a,b","x""y","{""a"":1}",,,true\n',
    );
  });
});

describe('csvLine beside csv-stringify', () => {
  const cell = fc.oneof(
    fc.string({ unit: fc.constantFrom(...Array.from('aZ09 _.:/-,;"\n\r\t=+@|é')) }),
    fc.double(),
    fc.integer(),
    fc.constantFrom('', 'row-1', '2026-11-22T10:00:00.000Z', '0.0875'),
  );

  test.prop([fc.array(cell, { minLength: 1, maxLength: 5 })])('writes the same line', (cells) => {
    expect(csvLine(cells)).toBe(stringify([cells], { escape_formulas: true, record_delimiter: '\n' }));
  });
});

describe('the rows of spreadsheets', () => {
  it("results: one value a cell, the user's own columns last", () => {
    const line = resultLine({
      intent: { ...intent, columns: { note: 'mine', cost: 'theirs' } },
      reply,
      outcome: completed,
    });
    const row = line && resultSheetRow(line);
    expect(row).toMatchObject({
      id: 'a',
      image: 'images/a.png',
      cost: 0.13,
      images: 'https://e.test/a.png https://e.test/b.png',
      prompt: 'blue',
      'input.style': { name: 'x' },
      note: 'mine',
      'columns.cost': 'theirs',
    });
    expect(ownColumn('note')).toBe('note');
  });

  it("failures: the manifest's columns, then what became of the row", () => {
    const line = failureLine({ intent, outcome: failed });
    expect(line && failureSheetRow(line)).toMatchObject({
      id: 'a',
      note: 'mine',
      'error.code': 'rejected',
      'millrace.row': 7,
    });
    expect(failureColumns(['id', 'note']).slice(0, 3)).toEqual(['id', 'note', 'error.code']);
  });

  it("failures: a column of the user's own that is called as a fact keeps its value under another name", () => {
    const cells = { id: 'a', 'error.code': 'E42', 'Error.note': 'mine', 'columns.error.code': 'theirs' };
    const line = failureLine({ intent: { ...intent, cells }, outcome: failed });
    expect(line && failureSheetRow(line)).toMatchObject({
      'columns.error.code': 'E42',
      'columns.Error.note': 'mine',
      'columns.columns.error.code': 'theirs',
      'error.code': 'rejected',
    });
    expect(failureColumns(Object.keys(cells)).slice(0, 5)).toEqual([
      'id',
      'columns.error.code',
      'columns.Error.note',
      'columns.columns.error.code',
      'error.code',
    ]);
  });
});

describe('lineId', () => {
  it.each(['a', 'with "quotes"', 'back\\slash', 'line\nbreak', 'ü🖼️', ''])(
    'finds %j without parsing the line',
    (id) => {
      expect(lineId(Buffer.from(JSON.stringify({ id, id2: 'other' })))).toBe(id);
    },
  );

  it('also where it does not come first', () => {
    expect(lineId(Buffer.from('{"row":1,"id":"a"}'))).toBe('a');
  });
});
