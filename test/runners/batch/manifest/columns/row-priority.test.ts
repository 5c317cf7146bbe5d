import { describe, expect, it } from 'vitest';
import { planManifest } from '../../../../../runners/batch/manifest/plan-manifest.js';
import { byPriority, prioritiesOf } from '../../../../../runners/batch/manifest/columns/row-priority.js';
import { jsonLines, readInvalid, readItems, readRows } from '../../../../support/manifest-items.js';

const csv = (...priorities: string[]) =>
  ['id,input.n,priority', ...priorities.map((cell, at) => `r${at},${at},${cell}`)].join('\n');
const asked = 'a whole number from -100 to 100';

async function* streamOf<T>(values: Promise<readonly T[]>): AsyncGenerator<T> {
  yield* await values;
}

describe('the priority of a row', () => {
  it('is a whole number, 0 where the cell is empty, and one of the columns of its own', async () => {
    const rows = await readRows(csv('5', '-100', ' +7 ', '3.0', '', '0', '-0'));
    expect(rows.map(({ priority }) => priority)).toEqual([5, -100, 7, 3, undefined, 0, 0]);
    expect(rows[0]).toMatchObject({ columns: { priority: '5' }, cells: { priority: '5' } });
    expect(rows[0]?.request).toEqual({ kind: 'job', input: { n: 0 } });
    expect(rows[0]?.columnUse).toMatchObject({ sent: ['input.n'], own: ['priority'] });
  });

  it('is a number or its text in JSON', async () => {
    const rows = await readRows(
      jsonLines(
        { id: 'a', input: {}, priority: 2 },
        { id: 'b', input: {}, priority: '-3' },
        { id: 'c', input: {}, priority: null },
      ),
      { format: 'jsonl' },
    );
    expect(rows.map(({ priority }) => priority)).toEqual([2, -3, undefined]);
  });

  it('does not change what the row is', async () => {
    const [one, other] = [await readRows(csv('5')), await readRows(csv('-5'))];
    expect(one[0]?.hash).toBe(other[0]?.hash);
  });

  it.each(['high', '1.5', '101', '-101', '1e1', '0x1', '--1', '9999999999', '∞'])(
    'refuses %s, with row, line and column',
    async (cell) => {
      expect(await readInvalid(csv('1', cell))).toEqual([
        expect.objectContaining({
          row: 2,
          line: 3,
          id: 'r1',
          problems: [
            {
              column: 'priority',
              message: `"${cell}" is not ${asked}; if the column is only your own, rename it or say so with --ignore priority`,
            },
          ],
        }),
      ]);
    },
  );

  it.each([1.5, true, [], { a: 1 }])('refuses %j in JSON', async (priority) => {
    const [row] = await readInvalid(jsonLines({ id: 'a', input: {}, priority }), { format: 'jsonl' });
    expect(row?.problems).toEqual([
      expect.objectContaining({ column: 'priority', message: expect.stringContaining(asked) }),
    ]);
  });

  it('is taken from another column by --map, and from --set where a row has none', async () => {
    const text = 'id,input.n,rank,tier\na,1,4,9\nb,2,,9';
    const settings = { map: { priority: 'rank' }, set: { priority: '{{tier}}' } };
    expect((await readRows(text, settings)).map(({ priority }) => priority)).toEqual([4, 9]);
    const [wrong] = await readInvalid('id,input.n,rank\na,1,top', { map: { priority: 'rank' } });
    expect(wrong?.problems).toEqual([{ column: 'rank', message: `"top" is not ${asked}` }]);
  });

  it('is no more than a column of the user where --ignore says so', async () => {
    const [row] = await readRows(csv('high'), { ignore: ['priority'] });
    expect(row?.priority).toBeUndefined();
    expect(row).toMatchObject({ columns: { priority: 'high' }, columnUse: { own: ['priority'] } });
  });

  it('is what a misspelt column may have been meant for', async () => {
    const text = 'id,input.n,Priorty\na,1,5';
    await expect(readItems(text)).rejects.toThrow('looks like "priority", for which there is no column');
    expect(await readRows(text, { ignore: ['Priorty'] })).toHaveLength(1);
  });

  it('cannot be an axis', async () => {
    await expect(readItems(csv('1'), { each: { priority: ['1', '2'] } })).rejects.toThrow(
      "priority is a row's own and cannot be an axis",
    );
  });
});

describe('a manifest by priority', () => {
  const read = (...cells: string[]) => streamOf(readItems(csv(...cells)));
  const planOf = (...cells: string[]) => planManifest(read(...cells), { priceOf: () => 10 });

  it('is planned and priced, the highest first', async () => {
    const { priorities } = await planOf('', '5', '-1', '5', 'high');
    expect(priorities).toEqual([
      { priority: 5, rows: 2, estimated: 20, unpriced: 0 },
      { priority: 0, rows: 1, estimated: 10, unpriced: 0 },
      { priority: -1, rows: 1, estimated: 10, unpriced: 0 },
    ]);
    expect(await planOf('2', '2')).not.toHaveProperty('priorities');
  });

  it('is read once for each, rows of the same in their order, with invalid ones as if they had none', async () => {
    const cells = ['', '5', '-1', 'high', '5', '0'];
    let readings = 0;
    const again = () => (readings++, read(...cells));
    const found = await prioritiesOf(read(...cells));
    const ids: unknown[] = [];
    for await (const { row } of byPriority(found, again)) ids.push(row.id);
    expect(ids).toEqual(['r1', 'r4', 'r0', 'r3', 'r5', 'r2']);
    expect(readings).toBe(3);
  });

  it('is read once where all have the same', async () => {
    let readings = 0;
    const found = await prioritiesOf(read('1', '1'));
    for await (const item of byPriority(found, () => (readings++, read('1', '1'))))
      expect(item.valid).toBe(true);
    expect(readings).toBe(1);
  });
});
