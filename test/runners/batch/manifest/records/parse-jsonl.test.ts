import { fc, test } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import { ManifestError } from '../../../../../runners/batch/manifest/manifest-error.js';
import { parseJsonl } from '../../../../../runners/batch/manifest/records/parse-jsonl.js';
import type { RawRecord } from '../../../../../runners/batch/manifest/records/raw-record.js';
import { readUtf8 } from '../../../../../runners/batch/manifest/records/read-utf8.js';
import { inChunks } from '../../../../support/manifest-items.js';

async function parse(text: string, size?: number): Promise<RawRecord[]> {
  const records: RawRecord[] = [];
  const chunks = readUtf8(inChunks(Buffer.from(text), size), { name: 'edits.jsonl', gzip: false });
  for await (const batch of parseJsonl(chunks, 'edits.jsonl')) records.push(...batch);
  return records;
}

async function messageOf(text: string, size?: number): Promise<string> {
  const error: unknown = await parse(text, size).catch((thrown: unknown) => thrown);
  if (!(error instanceof ManifestError)) throw new Error('no ManifestError');
  return error.message;
}

const problemsOf = async (text: string): Promise<unknown> =>
  (await parse(text)).map(({ line, problem }) => [line, problem?.message]);

describe('parseJsonl', () => {
  it.each(['\n', '\r\n', '\r'])('skips blank lines and counts them (%j)', async (newline) => {
    const records = await parse(['', '{"id":"a"}', ' \t', '', '{"id":"b","x":[1]}'].join(newline));
    expect(records).toEqual([
      { line: 2, names: ['id'], values: ['a'] },
      { line: 5, names: ['id', 'x'], values: ['b', [1]] },
    ]);
  });

  it('does not take U+2028, U+2029 or U+0085 for the end of a line', async () => {
    const records = await parse('{"id":"a\u2028b\u2029c\u0085d"}\n{"id":"e"}\n');
    expect(records.map(({ line, values }) => [line, values])).toEqual([
      [1, ['a\u2028b\u2029c\u0085d']],
      [2, ['e']],
    ]);
  });

  it('refuses a key that stands twice, of which the parser would drop the first, and no other [fault 21a]', async () => {
    const twice = (key: string, where = '') => `has the key "${key}" twice${where}; leave one of them`;
    const lines = [
      ['{"prompt":"a","id":"x","prompt":"b"}', twice('prompt', ' (character 24)')],
      ['{"id":"x", "prompt" : 1,"\\u0070rompt":2}', twice('prompt', ' (character 25)')],
      ['{"id":"x","input":{"id":1,"a":[{"id":2},"id"]}}', undefined],
      ['{"prompt":"say \\"id\\": twice","id":"prompt"}', undefined],
      ['{"id":"x","input":{"seed":1,"seed":2}}', twice('seed', ' in input (character 29)')],
      ['{"id":"x","input":{"a":[{"b":{"c":1,"\\u0063":2}}]}}', twice('c', ' in input.a.b (character 37)')],
      ['{"id":"x","input":{"a":[{"b":1},{"b":1}]}}', undefined],
      [
        '{"id":"x","input":{"\\ud800":1}}',
        'has a key "\\ud800" that holds half a character in input (character 20); rename it',
      ],
      ['{"id":"x","input":{"\\ud83d\\ude00":1}}', undefined],
      ['{"\\u0069d":"x"}', undefined],
    ];
    expect(await problemsOf(lines.map(([line]) => line).join('\n'))).toEqual(
      lines.map(([, problem], index) => [index + 1, problem]),
    );
  });

  it('names the column below which a key stands twice', async () => {
    const [record] = await parse('{"id":"x","input":{"seed":1,"seed":2}}');
    expect(record?.problem?.column).toBe('input');
  });

  it('says what is wrong with a line, and reads on', async () => {
    expect(
      await problemsOf(
        '{"id":"a"}\nnonsense\n7\nnull\n{"id":"b"\n[1]\n"x"\n{"":1}\n{"__proto__":1}\n{"id":"c"}',
      ),
    ).toEqual([
      [1, undefined],
      [2, "is not JSON: unexpected token 'o'; write one object a line"],
      [3, 'is not a JSON object, but 7'],
      [4, 'is not a JSON object, but null'],
      [5, expect.stringMatching(/^is not JSON: .*; write one object a line$/)],
      [6, 'is not a JSON object, but [1]'],
      [7, 'is not a JSON object, but "x"'],
      [8, 'has a key ""; rename it'],
      [9, 'has a key "__proto__"; rename it'],
      [10, undefined],
    ]);
  });

  it('refuses what could not be sent on as it is', async () => {
    expect(
      await problemsOf(`{"input":${'['.repeat(200)}${']'.repeat(200)}}\n{"input":{"n":1e999}}\n`),
    ).toEqual([
      [1, 'is nested deeper than 100 levels'],
      [2, 'holds a number that is too large'],
    ]);
  });

  it('refuses a file that is one array', async () => {
    expect(await messageOf('\n[\n{"id":"a"}]')).toBe(
      'edits.jsonl, line 2: is a JSON array; write one object a line instead (jq -c ".[]" does it)',
    );
  });

  it('refuses a file without rows', async () => {
    expect(await messageOf('\n\n')).toBe('edits.jsonl: is empty: it holds no rows, only blank lines');
  });

  it('refuses a line of more than 10 MB, after the rows before it', async () => {
    const long = `{"id":"a"}\n\n{"id":"${'x'.repeat(11_000_000)}"}\n`;
    expect(await messageOf(long, 65_536)).toBe('edits.jsonl, line 3: the line is longer than 10 MB');
  });

  test.prop([
    fc.array(fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 })), {
      minLength: 1,
      maxLength: 5,
    }),
    fc.integer({ min: 1, max: 30 }),
  ])('reads what JSON.stringify writes, wherever a piece ends', async (rows, size) => {
    const clean = rows.filter((row) => !Object.hasOwn(row, '__proto__'));
    const text = ['{"first":1}', ...clean.map((row) => JSON.stringify(row))].join('\n');
    const records = await parse(text, size);
    expect(records.slice(1).map(({ names, values }) => names.map((name, at) => [name, values[at]]))).toEqual(
      clean.map((row) => Object.entries(JSON.parse(JSON.stringify(row)) as object)),
    );
  });
});
