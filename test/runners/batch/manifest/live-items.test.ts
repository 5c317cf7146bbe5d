import { describe, expect, it } from 'vitest';
import { liveItems } from '../../../../runners/batch/manifest/live-items.js';
import { BrokenLine } from '../../../../runners/batch/manifest/read-live-lines.js';
import { collect } from '../../../support/collect.js';

const settings = { name: 'stream', format: 'jsonl', gzip: false, endpoint: 'echo' } as const;
const items = (...values: unknown[]) => collect(liveItems(values, settings));

describe('liveItems', () => {
  it('takes objects and lines of JSON, and gives the same request the same id', async () => {
    const [text, object, again] = await items(
      '{"id":"a","input":{"n":1}}',
      { input: { n: 2 } },
      '{"input":{"n":2}}',
    );
    expect(text).toMatchObject({ valid: true, row: { id: 'a', row: 1, request: { input: { n: 1 } } } });
    expect(object).toMatchObject({
      valid: true,
      row: { id: expect.stringMatching(/^[0-9a-f]{12}$/), row: 2 },
    });
    expect(again?.row.id).toBe(object?.row.id);
  });

  it('passes blank lines over, and counts them', async () => {
    const found = await items('{"id":"a","input":{}}', '', ' \r', 'no JSON');
    expect(found.map(({ row: { row, line } }) => [row, line])).toEqual([
      [1, 1],
      [2, 4],
    ]);
  });

  it('makes a wrong row of anything else, under a key that leaves its id free', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    const wrong = [
      new BrokenLine('is not UTF-8 text'),
      7,
      null,
      [1],
      '{"a',
      cyclic,
      () => 1,
      { id: 'x', input: 3 },
    ];
    const found = await items(...wrong);
    expect(found.map(({ valid }) => valid)).toEqual(wrong.map(() => false));
    expect(found[0]?.row).toMatchObject({ problems: [{ message: 'is not UTF-8 text' }] });
    expect(found[7]?.row).toMatchObject({ id: 'x', key: expect.stringMatching(/^x~[0-9a-f]{12}$/) });
  });
});
