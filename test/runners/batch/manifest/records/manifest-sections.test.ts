import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import type { ManifestItem, Row } from '../../../../../runners/batch/manifest/manifest-row.js';
import { SectionFinder } from '../../../../../runners/batch/manifest/records/manifest-sections.js';
import { readManifest } from '../../../../../runners/batch/manifest/read-manifest.js';
import { CheckedRows, sectionsLeftAlone } from '../../../../../runners/batch/start/check/checked-rows.js';
import { collect } from '../../../../support/collect.js';
import { inChunks } from '../../../../support/manifest-items.js';

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.constantFrom('two\nlines', 'a "quoted" word', 'a\r\nb', 'a\rb', 'comma, and', '""', '\n\n', 'ä🙂'),
);
const csvCell = (cell: string) =>
  /[",\r\n]|^\s|^\ufeff/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
const lineEnd = fc.constantFrom('\n', '\r\n', '\r', '\n\n', '\r\n\r\n', ',,\n');

const csv = fc
  .record({
    head: fc.constantFrom('', '\ufeff', 'sep=,\n', '\n\n'),
    rows: fc.array(fc.tuple(text, lineEnd), { minLength: 1, maxLength: 40 }),
  })
  .map(({ head, rows }) => ({
    format: 'csv' as const,
    bytes: Buffer.from(
      `${head}id,note,input.text:text\n${rows.map(([cell, end], at) => `r${at},${csvCell(cell)},x${csvCell(cell) === cell ? at : ''}${end === ',,\n' ? '\n,,\n' : end}`).join('')}`,
    ),
  }));
const jsonl = fc
  .array(fc.tuple(text, fc.constantFrom('\n', '\r\n', '\n\n')), { minLength: 1, maxLength: 40 })
  .map((rows) => ({
    format: 'jsonl' as const,
    bytes: Buffer.from(
      rows
        .map(([note, end], at) => `${JSON.stringify({ id: `r${at}`, note, input: { at } })}${end}`)
        .join(''),
    ),
  }));

const settingsOf = (format: 'csv' | 'jsonl', repeat: number) => ({
  name: 'm',
  format,
  gzip: false,
  endpoint: 'e',
  repeat,
});

async function all(items: AsyncIterable<ManifestItem>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const item of items) if (item.valid) rows.push(item.row);
  return rows;
}

const facts = ({ id, row, line, hash, cells, columns }: Row) => ({ id, row, line, hash, cells, columns });

describe('a manifest of which sections are left out', () => {
  test.prop([
    fc.oneof(csv, jsonl),
    fc.nat(2),
    fc.integer({ min: 1, max: 200 }),
    fc.array(fc.nat(4), { minLength: 1 }),
  ])(
    'gives the other rows as they are, with their lines and numbers',
    async ({ format, bytes }, repeat, chunkBytes, luck) => {
      const settings = settingsOf(format, repeat + 1);
      const finder = new SectionFinder(settings);
      const taking = async function* () {
        for await (const chunk of inChunks(bytes, chunkBytes)) {
          finder.take(chunk);
          yield chunk;
        }
      };
      const checked = new CheckedRows();
      const rows = await all(readManifest(taking(), settings));
      for (const row of rows) checked.add(row, finder.starts);
      const open = new Set(
        rows.filter((_, at) => luck[at % luck.length] === 0).map(({ hash }) => hash.slice(0, 8)),
      );
      const isLeftAlone = (_: unknown, bits: number) => !open.has(bits.toString(16).padStart(8, '0'));
      const hashes = Buffer.concat(await collect(checked.bytes()));
      let read = 0;
      const fill = (into: Uint8Array): Promise<void> => {
        into.set(hashes.subarray(read, (read += into.length)));
        return Promise.resolve();
      };
      const { isAll, sections } = await sectionsLeftAlone(checked.kept, fill, isLeftAlone, bytes.length);
      expect(isAll).toBe(rows.every(({ hash }) => !open.has(hash.slice(0, 8))));
      const kept = cut(bytes, sections);
      const rest = await all(readManifest(inChunks(kept, chunkBytes), settings, undefined, sections));
      const left = new Set(rest.map(({ id }) => id));
      const gone = new Set(rows.flatMap(({ id }) => (left.has(id) ? [] : [id])));
      expect(rest.map(facts)).toEqual(rows.filter(({ id }) => !gone.has(id)).map(facts));
      expect(rows.filter(({ id, hash }) => gone.has(id) && open.has(hash.slice(0, 8)))).toEqual([]);
      expect(gone.size).toBe(sections.reduce((sum, section) => sum + section.rows, 0));
    },
  );
});

function cut(bytes: Buffer, sections: readonly { readonly from: number; readonly to: number }[]): Buffer {
  const kept: Buffer[] = [];
  let from = 0;
  for (const section of sections) {
    kept.push(bytes.subarray(from, section.from));
    from = section.to;
  }
  return Buffer.concat([...kept, bytes.subarray(from)]);
}
