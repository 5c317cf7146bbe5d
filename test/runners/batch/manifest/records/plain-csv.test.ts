import { fc, test } from '@fast-check/vitest';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { collect } from '../../../../support/collect.js';
import { inChunks } from '../../../../support/manifest-items.js';
import { PlainCsv } from '../../../../../runners/batch/manifest/records/plain-csv.js';

interface Split {
  readonly rows: readonly (readonly [line: number, ...cells: string[]])[];
  readonly rest: string;
  /** The line where the rest begins. */
  readonly line: number;
}

async function split(text: string, delimiter = ',', size = Infinity): Promise<Split> {
  const plain = new PlainCsv(delimiter, 1);
  const source = inChunks(Buffer.from(text), size);
  const rows: Split['rows'][number][] = [];
  for await (const batch of plain.lines(source))
    rows.push(...batch.map(({ line, cells }) => [line, ...cells] as const));
  const rest = Buffer.concat([plain.rest, ...(await collect(source))]).toString();
  return { rows, rest, line: plain.line };
}

/** By csv-parse alone, up to what it refuses; the second value is its error. */
function byParser(text: string, delimiter: string): readonly [rows: string[][], code: string | undefined] {
  const rows: string[][] = [];
  const options = {
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_empty_lines: true,
    relax_column_count: true,
    on_record: (row: string[]) => void rows.push(row),
  };
  try {
    parse(text, options);
    return [rows, undefined];
  } catch (error) {
    return [rows, (error as { code: string }).code];
  }
}

const breaksIn = (text: string): number => text.match(/\r\n|\r|\n/g)?.length ?? 0;

describe('PlainCsv', () => {
  it('splits rows that a line break ends, and leaves the last one', async () => {
    expect(await split('a,"b ""c"""\r\n\n"d\ne",\rf,g')).toEqual({
      rows: [
        [1, 'a', 'b "c"'],
        [3, 'd\ne', ''],
      ],
      rest: 'f,g',
      line: 5,
    });
  });

  it.each([
    ['a quote inside a cell', 'a,b\nc,d "e"\nf,g\n', 'c,d "e"\nf,g\n', 2],
    ['text behind a closing quote', 'a,b\n\n"c"d,e\n', '"c"d,e\n', 3],
    ['a long row', `a,b\n${'c'.repeat(1 << 16)}`, 'c'.repeat(1 << 16), 2],
    ['a carriage return that may have a line feed behind it', 'a,b\r', 'a,b\r', 1],
  ])('stops before %s', async (_, text, rest, line) => {
    expect(await split(text)).toMatchObject({ rest, line });
  });

  it.each(['', '::', '§', '"', '\n', '\r'])(
    'leaves all to csv-parse where %j separates cells',
    async (sign) => {
      expect(await split('a,b\nc,d\n', sign)).toEqual({ rows: [], rest: 'a,b\nc,d\n', line: 1 });
    },
  );

  const text = fc.string({
    unit: fc.constantFrom(
      ...['a', 'é', '😀', '"', '""', ',', ',"', '",', '\n', '"\n', '\r\n', '\r', ' ', ';'],
    ),
    maxLength: 60,
  });
  test.prop([text, fc.constantFrom(',', ';'), fc.integer({ min: 1, max: 30 })], { numRuns: 2_000 })(
    'finds what csv-parse finds, with what it leaves to it',
    async (whole, delimiter, size) => {
      const { rows, rest, line } = await split(whole, delimiter, size);
      const [left, code] = byParser(rest, delimiter);
      expect([[...rows.map(([, ...cells]) => cells), ...left], code]).toEqual(byParser(whole, delimiter));
      expect(line).toBe(1 + breaksIn(whole.slice(0, whole.length - rest.length)));
      for (const [at, [first, ...cells]] of rows.entries())
        expect(rows[at + 1]?.[0] ?? line).toBeGreaterThanOrEqual(first + breaksIn(cells.join('\0')) + 1);
    },
  );
});
