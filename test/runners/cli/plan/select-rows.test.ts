import { describe, expect, it } from 'vitest';
import type { ManifestItem } from '../../../../runners/batch/manifest/manifest-row.js';
import { selectRows } from '../../../../runners/cli/plan/plan-source.js';
import { invalidRowWith, rowWith } from '../../../support/whole-values.js';

async function* items(...ids: string[]): AsyncGenerator<ManifestItem> {
  for (const id of ids)
    yield id.startsWith('bad')
      ? { valid: false, row: invalidRowWith({ id, key: id }) }
      : { valid: true, row: rowWith(id.endsWith('+1') ? { id: id.slice(0, -2), priority: 1 } : { id }) };
}

async function idsOf(
  part: { limit?: number; only?: string[] },
  ids: (string | undefined)[] = [],
): Promise<(string | undefined)[]> {
  const read = () => items('a', 'bad1', 'b', 'c+1', 'bad2');
  const rows = await selectRows(read, part);
  for await (const item of rows()) ids.push(item.row.id);
  return ids;
}

describe('selectRows', () => {
  it('leaves all of a manifest when nothing is said', async () => {
    expect(await idsOf({})).toEqual(['a', 'bad1', 'b', 'c', 'bad2']);
  });

  it('leaves the first rows of the highest priority, and every invalid one', async () => {
    expect(await idsOf({ limit: 2 })).toEqual(['c', 'a', 'bad1', 'bad2']);
    expect(await idsOf({ limit: 1 })).toEqual(['c', 'bad1', 'bad2']);
  });

  it('leaves named rows, as far as the limit goes', async () => {
    expect(await idsOf({ only: ['c', 'a'] })).toEqual(['a', 'bad1', 'c', 'bad2']);
    expect(await idsOf({ only: ['b', 'a'], limit: 1 })).toEqual(['a', 'bad1', 'bad2']);
  });

  it('says which names no row has', async () => {
    const ids: (string | undefined)[] = [];
    await expect(idsOf({ only: ['a', 'x', 'bad1', 'y'] }, ids)).rejects.toThrow(
      /--only: no row has the id "x", "y"/,
    );
    expect(ids).toEqual(['a', 'bad1', 'bad2']);
  });
});
