import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Disk } from '../../../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../../../runners/batch/disk/node-disk.js';
import { parseJsonl } from '../../../../runners/report/read/read-jsonl.js';
import { openPlaces, type Place } from '../../../../runners/report/read/read-places.js';
import { reportFolder } from '../../../support/report-folder.js';

async function placesOf(folder: string, file: string): Promise<Place[]> {
  const places: Place[] = [];
  await parseJsonl(nodeDisk, join(folder, file), (_, offset, length) =>
    places.push({ file, offset, length }),
  );
  return places;
}

it('gives lines of several files in the order asked for, and reads neighbours in one go', async () => {
  const folder = await reportFolder({
    'a.jsonl': Array.from({ length: 50 }, (_, n) => ({ n, text: 'é'.repeat(n) })),
    'b.jsonl': [{ n: 100 }, { n: 101 }],
  });
  const [a, b] = [await placesOf(folder, 'a.jsonl'), await placesOf(folder, 'b.jsonl')];
  let reads = 0;
  const counting: Disk = {
    ...nodeDisk,
    open: async (path, flags) => {
      const file = await nodeDisk.open(path, flags);
      return { ...file, read: (into, position) => (reads++, file.read(into, position)) };
    },
  };
  const reader = await openPlaces(counting, folder, ['a.jsonl', 'b.jsonl', 'missing.jsonl']);
  const found = await reader.read([a[7]!, b[1]!, a[3]!, a[49]!, b[0]!]);
  await reader.close();
  expect(found.map((line) => line?.['n'])).toEqual([7, 101, 3, 49, 100]);
  expect(reads).toBe(2);
});

it('gives nothing where a file is shorter by now', async () => {
  const folder = await reportFolder({ 'a.jsonl': [{ n: 1 }] });
  const reader = await openPlaces(nodeDisk, folder, ['a.jsonl']);
  expect(await reader.read([{ file: 'a.jsonl', offset: 500, length: 40 }])).toEqual([undefined]);
  await reader.close();
});

it('leaves no file open when one of them cannot be opened', async () => {
  const folder = await reportFolder({ 'a.jsonl': [{ n: 1 }], 'b.jsonl': [{ n: 2 }] });
  let open = 0;
  const gone: Disk = {
    ...nodeDisk,
    open: async (path, flags) => {
      if (path.endsWith('b.jsonl')) throw Object.assign(new Error('gone'), { code: 'ENOENT' });
      const file = await nodeDisk.open(path, flags);
      open++;
      return { ...file, close: () => (open--, file.close()) };
    },
  };
  await expect(openPlaces(gone, folder, ['a.jsonl', 'b.jsonl'])).rejects.toMatchObject({ code: 'ENOENT' });
  expect(open).toBe(0);
});
