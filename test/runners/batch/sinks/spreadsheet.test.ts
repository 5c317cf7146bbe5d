import { describe, expect, it } from 'vitest';
import { Spreadsheet } from '../../../../runners/batch/sinks/spreadsheet.js';
import { ForgetfulDisk } from '../../../support/forgetful-disk.js';

const path = '/out/failures.csv';
const text = (disk: ForgetfulDisk): string => disk.peek(path)?.toString() ?? '';

async function open(columns: string[]) {
  const disk = new ForgetfulDisk();
  await disk.mkdir('/out');
  return { disk, sheet: await Spreadsheet.open(disk, path, columns, undefined) };
}

async function* rowsOf(...rows: Record<string, string>[]) {
  for (const row of rows) yield row;
}

describe('Spreadsheet', () => {
  it('appends rows under the columns of its first line', async () => {
    const { disk, sheet } = await open(['id', 'note']);
    await sheet.append([{ id: 'a', note: 'one' }, { id: 'b' }]);
    await sheet.refresh(() => rowsOf());
    expect(text(disk)).toBe('id,note\na,one\nb,\n');
    expect(sheet.extent).toMatchObject({ bytes: text(disk).length, columns: ['id', 'note'] });
  });

  it('has no mark while rows with new columns wait, so that a start after a crash writes it anew', async () => {
    const { disk, sheet } = await open(['id']);
    await sheet.append([{ id: 'a', kind: 'edit' }]);
    expect(text(disk)).toBe('id\n');
    expect(sheet.extent).toBeUndefined();
    await sheet.refresh(() => rowsOf({ id: 'a', kind: 'edit' }));
    expect(text(disk)).toBe('id,kind\na,edit\n');
    expect(sheet.extent?.columns).toEqual(['id', 'kind']);
  });

  it('reads its rows once where it is written anew, because it has seen their columns', async () => {
    const { disk, sheet } = await open(['id']);
    const rows = [{ id: 'a', kind: 'edit' }];
    let passes = 0;
    const read = () => (passes++, rowsOf(...rows));
    await sheet.refresh(read, true);
    expect([passes, text(disk)]).toEqual([2, 'id,kind\na,edit\n']);
    await sheet.append([{ id: 'b', note: 'x' }]);
    await sheet.refresh(read);
    expect([passes, text(disk)]).toEqual([3, 'id,kind,note\na,edit,\n']);
  });
});
