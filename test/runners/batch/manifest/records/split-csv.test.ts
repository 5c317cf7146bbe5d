import { Readable } from 'node:stream';
import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { feed } from '../../../../../runners/batch/manifest/records/feed.js';
import { CsvCollector } from '../../../../../runners/batch/manifest/records/csv-collector.js';
import {
  CsvStretches,
  splitCsv,
  type CsvLine,
} from '../../../../../runners/batch/manifest/records/split-csv.js';

/** The same by csv-parse; `undefined` where it refuses the text. */
async function byCsvParse(text: string, delimiter: string): Promise<CsvLine[] | undefined> {
  const options = {
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    delimiter,
  };
  const parser = new CsvCollector(options, 1);
  const records: CsvLine[] = [];
  const source = Readable.from([Buffer.from(text)]);
  try {
    for await (const lines of feed(source, parser, () => parser.takeBatch())) records.push(...lines);
  } catch {
    return undefined;
  }
  return records;
}

const sign = fc.constantFrom('a', 'b', '"', '"', ',', ';', '\n', '\r', '\r\n', ' ', 'é', '😀', '\ufeff');

describe('splitCsv', () => {
  test.prop([fc.array(sign, { maxLength: 30 }), fc.constantFrom(',', ';')], { numRuns: 5_000 })(
    'takes a text apart as csv-parse does, and refuses what csv-parse refuses [fault 23]',
    async (signs, delimiter) => {
      const text = signs.join('');
      expect(splitCsv(text, delimiter, 1)?.records).toStrictEqual(await byCsvParse(text, delimiter));
    },
  );

  test.prop([fc.array(sign, { maxLength: 40 }), fc.integer({ min: 1, max: 7 })], { numRuns: 2_000 })(
    'finds the same records, on the same lines, wherever a chunk ends',
    (signs, size) => {
      const text = signs.join('');
      const whole = splitCsv(text, ',', 1);
      const stretches = new CsvStretches(',');
      const records: CsvLine[] = [];
      let line = 1;
      let isRefused = false;
      const bytes = Buffer.from(text);
      const chunks: Buffer[] = [];
      for (let at = 0; at < bytes.length;) {
        let end = Math.min(at + size, bytes.length);
        while (bytes[end - 1] === 0x0d && end < bytes.length) end++;
        chunks.push(bytes.subarray(at, end));
        at = end;
      }
      for (const stretch of [...chunks.map((chunk) => stretches.take(chunk)), stretches.rest()]) {
        const split = splitCsv(stretch.toString(), ',', line);
        isRefused ||= split === undefined;
        if (split === undefined || isRefused) break;
        records.push(...split.records);
        line = split.nextLine;
      }
      expect(isRefused).toBe(whole === undefined);
      if (whole !== undefined) expect(records).toStrictEqual(whole.records);
    },
  );

  it('counts line breaks in quotes and empty lines', () => {
    expect(splitCsv('\n\r\n"a\r\nb",c\rd,e\n', ',', 5)).toStrictEqual({
      records: [
        { line: 7, cells: ['a\r\nb', 'c'] },
        { line: 9, cells: ['d', 'e'] },
      ],
      nextLine: 10,
    });
  });
});
